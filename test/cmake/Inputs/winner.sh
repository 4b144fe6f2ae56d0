# winner.sh BUILD CMAKE ROOT: what test/cmake/winner.test looks at. Runs in the
# folder that holds "a project".
set -e
build=$1 cmake=$2
source="a project/src/scale.cu"
configure() { "$cmake" -G Ninja -S "a project" -B made "-DStark_DIR=$build" -DCMAKE_CUDA_ARCHITECTURES=90 \
  -DCMAKE_CUDA_FLAGS=-no-compress "$@"; }
make_it() { "$cmake" --build made; }

echo "== no entry"
configure
make_it

echo "== REQUIRE"
configure -DSTARK_MODE=REQUIRE > /dev/null
make_it || echo "exit $?"
configure -DSTARK_MODE=AUTO > /dev/null

echo "== winner"
python3 "a project/src/fakes.py" --judge judge
flags=$(ls made/CMakeFiles/stark/scale/*/flags.CUDA)
search() { # OUT STORE
  python3 "a project/src/fakes.py" ask spool -- "$build/bin/stark-tool" build "$source" --arch sm_90 \
    --provider exchange:ask --no-extract --evaluator replay:judge --run-dir runs --attempts 2 --wait 60 --flags-file "$flags" \
    --output "$1" --store "$2"
}
search out.cu "a project/stark-store" 2> search.txt || { cat search.txt; exit 1; }
make_it
make_it

echo "== code"
strings -n 4 made/libscale.a
cat made/CMakeFiles/stark/scale/*/scale.stark.cu

echo "== check"
mkdir checks
echo '{"device": "NVIDIA H200", "arch": "sm_90", "driver": "", "memory_mib": 1, "l2_bytes": 1, "copy_gb_per_s": 1.0,' \
  '"event_pair_us": 1.0, "lockdown": "none"}' > checks/device.json
"$build/bin/stark-tool" check made/CMakeFiles/stark/scale/kernels.json --evaluator spool:checks || echo "exit $?"
python3 -c '
import glob, json
(job,) = glob.glob("checks/jobs/*/job.json")
print("compared:", ", ".join(sorted({c["label"].split(", ")[0] for c in json.load(open(job))["cases"]})))'

echo "== header changed"
cp "a project/src/twice.cuh" kept.cuh
echo "// said" >> "a project/src/twice.cuh"
make_it
echo "-- not in a comment alone"
echo "#define CHANGED" >> "a project/src/twice.cuh"
make_it
echo "== header restored"
cp kept.cuh "a project/src/twice.cuh"
make_it

echo "== corrupt"
kernel=$(ls "a project"/stark-store/scale.cu/*/kernel.cu)
cp "$kernel" kept.cu
echo "// changed" >> "$kernel"
make_it
"$build/bin/stark-cache" verify "a project/stark-store" || true

echo "== CRLF"
sed 's/$/\r/' kept.cu > "$kernel"
sed -i 's/$/\r/' "$(dirname "$kernel")/entry.json"
make_it

echo "== no store"
rm -rf ask
echo > file
search other.cu file/store || echo "exit $?"
test ! -e other.cu
echo "asked: $(ls ask/pending 2> /dev/null | wc -l)"
echo "== end"
