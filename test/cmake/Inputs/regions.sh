# regions.sh BUILD CMAKE FAKES: what test/cmake/regions.test looks at. Runs in the
# folder that holds src and include.
set -e
build=$1 cmake=$2
mkdir project && mv src include project && cp "$3" project/src
cd project/src
sed 's/"sizes": .*/"sizes": [{"n": 70000}],/' scale.workload.json > scale.large.workload.json
sed 's/"sizes": .*/"sizes": [{"n": 64}],/' scale.workload.json > scale.small.workload.json
cat >> scale.cu <<SOURCE

void launch_again(const float *x, float *y, int n, cudaStream_t stream) {
  scale_kernel<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);
}
SOURCE
sed 's/launch_scale/launch_again/' scale.workload.json > scale.again.workload.json
cp scale.workload.json scale.other.workload.json
sed 's/launch_/other_/; s/scale_kernel/other_kernel/' scale.cu > scale.other.cu
cd ../..
cat > project/CMakeLists.txt <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(regions LANGUAGES CXX CUDA)
find_package(Stark REQUIRED)
add_library(scale src/scale.cu)
target_include_directories(scale PRIVATE include)
stark_optimize_kernels(scale STORE store)
add_library(two EXCLUDE_FROM_ALL src/scale.cu src/scale.other.cu)
target_include_directories(two PRIVATE include)
stark_optimize_kernels(two SOURCES src/scale.other.cu STORE store)
PROJECT
configure() { "$cmake" -G Ninja -S project -B made "-DStark_DIR=$build" -DCMAKE_CUDA_ARCHITECTURES=90 "$@" > configure.txt; }
make_it() { "$cmake" --build made; }
words() { grep -o -e "--workload=[^ ]*" | grep -o '[a-z.]*$' | sed 's/^/--workload=/' | paste -sd ' '; }

echo "== workloads"
configure || cat configure.txt
grep 'stark-cache lookup' made/build.ninja | grep -v other.cu | words
echo "two sources: $(grep 'stark-cache lookup' made/build.ninja | grep other.cu | words)"
grep -o '"workload": "[^"]*"' made/CMakeFiles/stark/scale/kernels.json | sed 's/".*\//"workload": /; s/"$//'

echo "== one"
python3 project/src/fakes.py --judge judge
flags=$(ls made/CMakeFiles/stark/scale/*/flags.CUDA)
folder=$(dirname "$flags")
search() { # further words
  python3 project/src/fakes.py ask spool -- "$build/bin/stark-tool" build project/src/scale.cu --arch sm_90 \
    --provider exchange:ask --no-extract --evaluator replay:judge --run-dir "$folder/runs" --attempts 2 --wait 60 --flags-file "$flags" \
    --output out.cu --store project/store "$@"
}
search 2> search.txt || { cat search.txt; exit 1; }
make_it
echo "$(grep -c '^// Winner ' "$folder/scale.stark.cu") winners"

echo "== REQUIRE"
configure -DSTARK_MODE=REQUIRE
make_it || true
configure -DSTARK_MODE=AUTO

echo "== search"
more="--more-workload=project/src/scale.again.workload.json --more-workload=project/src/scale.large.workload.json --more-workload=project/src/scale.small.workload.json"
search $more 2> search.txt || { cat search.txt; exit 1; }
grep warning search.txt || true
echo "$(grep -c '^// Winner ' out.cu) winners"

echo "== explain"
look() { "$build/bin/stark-cache" lookup project/src/scale.cu --workload=project/src/scale.workload.json \
  --workload=project/src/scale.again.workload.json --workload=project/src/scale.large.workload.json --workload=project/src/scale.small.workload.json --output=look.cu \
  --store=project/store --arch=sm_90 --toolkit-version=13.0 --flags-file="$flags" "$@"; }
look --explain 2>&1

echo "== build"
make_it
echo "== order"
grep -E '^ .*n ==' "$folder/scale.stark.cu"
echo "== changed"
sed -i 's/"n": 64/"n": 65/' project/src/scale.small.workload.json
make_it
echo "== tune"
search $more --tune 1 2>&1 | tail -1
echo "== report"
"$build/bin/stark-tool" report made/CMakeFiles/stark/scale/kernels.json -o report.html > said.txt
ls report
