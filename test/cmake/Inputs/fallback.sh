# fallback.sh BUILD CMAKE: what test/cmake/fallback.test looks at.
set -e
build=$1 cmake=$2
configure() { # BUILD GENERATOR ARGUMENTS...
  folder=$1 generator=$2
  shift 2
  "$cmake" -G "$generator" -S project -B "$folder" "-DStark_DIR=$build" "-DCMAKE_CUDA_ARCHITECTURES=80;90" \
    -DCMAKE_CUDA_FLAGS=-no-compress -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" > configure.txt 2>&1 || { cat configure.txt; exit 1; }
}
symbols() { nm --extern-only --defined-only "$1/libscale.a" | sed -n 's/^[0-9a-f]* //p' | LC_ALL=C sort; }

echo "== plain"
"$cmake" -G Ninja -S project -B plain "-DStark_DIR=$build" "-DCMAKE_CUDA_ARCHITECTURES=80;90" -DPLAIN=ON > configure.txt
"$cmake" --build plain > build.txt

echo "== winner for two architectures"
configure made Ninja
cat configure.txt | grep -i warning || true
python3 project/src/fakes.py --judge judge
python3 project/src/fakes.py ask spool -- "$build/bin/stark-tool" build project/src/scale.cu --arch sm_90 \
  --provider exchange:ask --no-extract --evaluator replay:judge --run-dir runs --attempts 2 --wait 60 \
  --flags-file "$(ls made/CMakeFiles/stark/scale/*/flags.CUDA)" --output out.cu --store project/stark-store 2> search.txt \
  || { cat search.txt; exit 1; }
"$cmake" --build made
symbols made > made.txt
symbols plain > plain.txt
diff plain.txt made.txt && echo "the same symbols: $(grep -c . made.txt)"
grep -c "stark-cache" made/compile_commands.json || true

echo "== refused"
# A compiler that does not take the winner, and takes all else.
cat > compiler.sh <<'END'
#!/bin/sh
for word; do
  case $word in
  *.cu) grep -q stark_runs_ "$word" && { echo "$word(7): error: it is too new" >&2; exit 2; } ;;
  esac
done
exec "$@"
END
chmod +x compiler.sh
configure old "Unix Makefiles" "-DCMAKE_CUDA_COMPILER_LAUNCHER=$PWD/compiler.sh"
"$cmake" --build old 2>&1
symbols old | cmp plain.txt - && echo "the same symbols"
"$cmake" --build old 2>&1

echo "== REQUIRE"
configure old "Unix Makefiles" "-DCMAKE_CUDA_COMPILER_LAUNCHER=$PWD/compiler.sh" -DSTARK_MODE=REQUIRE
"$cmake" --build old 2>&1 || echo "exit"

echo "== broken source"
echo "int broken = nothing;" >> project/src/scale.cu
configure made Ninja
"$cmake" --build made 2>&1 || echo "exit"
echo "== end"
