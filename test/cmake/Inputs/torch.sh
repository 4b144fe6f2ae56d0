# torch.sh BUILD CMAKE: what the tests of targets that link torch have in common,
# to be read with '.', in the folder that holds "project".
set -e
build=$1 cmake=$2
configure() { # WHERE TORCH [-DNAME=VALUE...]
  where=$1 torch=$2
  shift 2
  "$cmake" -G Ninja -S project -B "$where" "-DStark_DIR=$build" "-DCMAKE_PREFIX_PATH=$torch" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" > configure.txt 2>&1 || {
    cat configure.txt
    exit 1
  }
}
make_it() { "$cmake" --build "$1" 2>&1; }
search() { # MADE: keeps a winner in the project's store; no compiler takes part.
  python3 project/src/fakes.py --judge judge
  python3 project/src/fakes.py ask spool -- "$build/bin/stark-tool" build project/src/scale.cu --arch sm_90 \
    --provider exchange:ask --evaluator replay:judge --run-dir runs --attempts 1 --wait 120 --no-extract --output searched.cu \
    --flags-file "$(ls "$1"/CMakeFiles/stark/ops/*/flags.CUDA)" --store project/stark-store 2> search.txt || {
    cat search.txt
    exit 1
  }
}
