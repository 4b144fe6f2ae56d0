# extracted.sh BUILD CMAKE: what test/cmake/extracted.test looks at. Runs in the
# folder that holds project, lonely and the answers.
set -e
build=$1 cmake=$2
make_it() { "$cmake" --build made; }
answer() { # what is pending, with NAME.md
  for request in ask/pending/*-$1-*.md; do
    cp "$request" "$1-request.md"
    cp "$1.md" "ask/answers/$(basename "$request")"
  done
}

echo "== asked"
"$cmake" -G Ninja -S project -B made "-DStark_DIR=$build" -DCMAKE_CUDA_ARCHITECTURES=90
make_it
echo "== request"
answer plan
cat plan-request.md
make_it > code.txt 2>&1
answer code
echo "== winner"
make_it
echo "== again"
make_it
echo "== generated"
cat made/CMakeFiles/stark/halves/*/halves.stark.cu
echo "== headers"
diff -r project/include kept/include && diff -r project/src kept/src && echo untouched

echo "== changed"
header=project/include/halves.cuh
sed -i 's/T(64)/T(32) \/ 2/' $header
make_it
echo "== restored"
cp kept/include/halves.cuh $header
make_it

build_alone() { # SOURCE WORDS...
  "$build/bin/stark-tool" build "$@" --arch sm_90 --toolkit-version 13.0 --evaluator sim -- -Iproject/include
}
echo "== entry in a header"
sed 's/launch_halves/launch_lonely/' project/src/halves.workload.json > lonely/lonely.workload.json
build_alone lonely/lonely.cu --store lonely-store --run-dir runs --provider exchange:none --output lonely.cu
echo "asked: $(ls none/pending 2> /dev/null | wc -l)"

echo "== candidate"
cp project/stark-store/halves.cu/*/kernel.cu whole.cu
build_alone project/src/halves.cu --candidate whole.cu --store extracted-store
build_alone project/src/halves.cu --candidate plain.cu --store plain-store
build_alone lonely/lonely.cu --candidate whole.cu --store extracted-store || true
echo "== end"
