# steps.sh BUILD CMAKE: what test/cmake/steps.test looks at. Runs in a folder
# with the sources of a project.
build=$1 cmake=$2
cat > CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(steps LANGUAGES CUDA)
find_package(Stark REQUIRED)
add_library(norm OBJECT norm.cu)
stark_optimize_kernels(norm)
add_library(scale OBJECT src/scale.cu src/again.cu)
target_include_directories(scale PRIVATE include)
stark_optimize_kernels(scale SOURCES src/scale.cu)
stark_optimize_kernels(scale SOURCES src/again.cu WORKLOADS src/scale.workload.json)
PROJECT
cp src/scale.cu src/again.cu
configure() { # FOLDER GENERATOR [-DNAME=VALUE...]
  folder=$1 generator=$2
  shift 2
  "$cmake" -G "$generator" -S . -B "$folder" "-DStark_DIR=$build" -DCMAKE_CUDA_ARCHITECTURES=90 -DSTARK_MODE=CACHED \
    -DSTARK_PROVIDER=rules -DSTARK_EVALUATOR=sim "$@" > configure.txt 2>&1 || { cat configure.txt; exit 1; }
}
make_it() { "$cmake" --build made --target "$1" 2>&1 && echo "done" || echo "failed"; }

echo "== nothing yet"
configure made Ninja -DSTARK_TUNE_ATTEMPTS=1
make_it norm_stark_report
make_it norm_stark_check

echo "== tune"
make_it norm_stark_tune
make_it norm_stark_tune
make_it norm_stark
grep -q "norm_kernel.*stark\|stark.*norm_kernel" made/CMakeFiles/stark/norm/*/norm.stark.cu && echo "generated"

echo "== interrupted"
configure made Ninja -DSTARK_TUNE_ATTEMPTS=20
runs=$(dirname made/CMakeFiles/stark/norm/*/stamp)/runs
cp -r stark-store kept
python3 "$(dirname "$0")/interrupt.py" "$runs" 4 ninja -C made norm_stark_tune > interrupted.txt
tail -n 1 interrupted.txt
diff -r stark-store kept && find made -name '*.tmp'
configure made Ninja -DSTARK_TUNE_ATTEMPTS=0
make_it norm_stark_tune
ls stark-store/norm.cu | wc -l

echo "== check"
make_it norm_stark_check
"$build/bin/stark-tool" check made/CMakeFiles/stark/norm/kernels.json --evaluator sim:a100

echo "== wrong"
# Somebody's store has a winner that the judge of then did not look at well.
cat > lie.py <<'LIE'
import fakes
fakes.code_value = fakes.debug_value = lambda attempt: f"3.0f * x[i] + 0.0f * {attempt}"
fakes.main()
LIE
cp lie.py src
python3 src/lie.py --judge judge
python3 src/lie.py ask spool -- "$build/bin/stark-tool" build src/scale.cu --arch sm_90 --provider exchange:ask \
  --no-extract --evaluator replay:judge --run-dir runs --attempts 2 --wait 60 --output lie.cu --store stark-store \
  --flags-file "$(ls made/CMakeFiles/stark/scale/*/flags.CUDA | head -n 1)" 2> lie.txt || cat lie.txt
make_it stark_check
python3 -c "
import json
for winner in json.load(open('made/stark-check/stark.json'))['winners']:
    print(winner['target'], winner['result'], winner['verdict']['kind'])"

echo "== report"
make_it norm_stark_report
make_it stark_report
cp -r "$runs" "$(sed -n 's/.*"runs": "\([^"]*\)".*/\1/p' made/CMakeFiles/stark/scale/kernels2.json)"
make_it stark_report
find made/stark-report -type f | sort

echo "== generators"
configure makefiles "Unix Makefiles"
make -C makefiles -n stark_tune | grep -c -- "stark-tool build.*--tune=30"
configure multi "Ninja Multi-Config"
ninja -C multi -f build-Release.ninja -n -v scale_stark_tune scale_stark_check | grep -c "scale/[^ ]*Release"
echo "== end"
