# search.sh BUILD CMAKE ARGUMENTS [-DNAME=VALUE...]: configures a project that
# gives ARGUMENTS to stark_optimize_kernels() and prints the command of its step.
set -e
build=$1 cmake=$2 arguments=$3
shift 3
rm -rf made
cat > CMakeLists.txt <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(search LANGUAGES CXX CUDA)
find_package(Stark REQUIRED)
add_library(scale src/scale.cu)
target_include_directories(scale PRIVATE include)
stark_optimize_kernels(scale SOURCES src/scale.cu MODE SEARCH $arguments)
PROJECT
"$cmake" -G Ninja -S . -B made "-DStark_DIR=$build" -DCMAKE_CUDA_ARCHITECTURES=90 "$@" > configure.txt || {
  cat configure.txt
  exit 1
}
cp made/CMakeFiles/stark/scale/*/flags.CUDA made.flags
grep -o -- '--search=--provider.*' made/build.ninja | head -n 1
