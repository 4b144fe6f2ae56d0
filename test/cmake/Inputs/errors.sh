# errors.sh BUILD CMAKE: calls stark_optimize_kernels() with one wrong argument
# each; no language is enabled, so that nothing is looked for first.
build=$1 cmake=$2
mkdir -p project/other
touch project/a.cu project/b.cu project/host.cpp project/a.workload.json project/c.cu project/d.cu
try() { # NAME CALL
  cat > project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(errors LANGUAGES NONE)
find_package(Stark REQUIRED)
add_library(lib STATIC a.cu b.cu host.cpp \$<1:d.cu>)
add_library(empty STATIC b.cu)
add_library(alias ALIAS lib)
add_library(face INTERFACE)
$2
END
  echo "== $1"
  rm -rf made
  # On one line, whatever the width.
  "$cmake" -S project -B made "-DStark_DIR=$build" ${3:-} 2>&1 | tr -s '\n ' ' ' | sed 's/CMake Error/\n&/g; s/Call Stack.*//' | grep 'CMake Error'
}
try unknown 'stark_optimize_kernels(lib SOURCES a.cu STORES here)'
try unknown-word 'stark_optimize_kernels(lib a.cu)'
try no-value 'stark_optimize_kernels(lib SOURCES a.cu STORE)'
try no-target 'stark_optimize_kernels(missing)'
try alias 'stark_optimize_kernels(alias)'
try interface 'stark_optimize_kernels(face)'
try mode 'stark_optimize_kernels(lib MODE FAST)'
try mode-variable 'stark_optimize_kernels(lib)' -DSTARK_MODE=auto
try number 'stark_optimize_kernels(lib ATTEMPTS many)'
try jobs 'stark_optimize_kernels(lib JOBS 0)'
try preset 'stark_optimize_kernels(lib PRESET best)'
try budget 'stark_optimize_kernels(lib BUDGET usd=2 money=3)'
try budget-variable 'stark_optimize_kernels(lib)' -DSTARK_BUDGET=2
try foreign-source 'stark_optimize_kernels(lib SOURCES c.cu)'
try expression 'stark_optimize_kernels(lib SOURCES "$<1:a.cu>")'
try in-expression 'stark_optimize_kernels(lib SOURCES d.cu)'
try not-cuda 'stark_optimize_kernels(lib SOURCES host.cpp)'
try no-workload 'stark_optimize_kernels(lib SOURCES b.cu)'
try no-workloads 'stark_optimize_kernels(empty)'
try workload-count 'stark_optimize_kernels(lib SOURCES a.cu b.cu WORKLOADS a.workload.json)'
try second-workload 'stark_optimize_kernels(lib SOURCES a.cu WORKLOADS a.workload.json b.workload.json)'
try no-cuda 'stark_optimize_kernels(lib SOURCES a.cu)'
cuda='set(CMAKE_CUDA_COMPILER_VERSION 13.0)
set_property(TARGET lib PROPERTY CUDA_ARCHITECTURES'
try native "$cuda native)
stark_optimize_kernels(lib SOURCES a.cu MODE REQUIRE)"
try no-architecture "$cuda OFF)
stark_optimize_kernels(lib SOURCES a.cu)"
echo "== native as it is"
sed -i 's/ OFF)/ native)/' project/CMakeLists.txt
"$cmake" -S project -B made "-DStark_DIR=$build" 2>&1 | tr -s '\n ' ' ' | grep -o 'CMake Warning.*'
# Names that the call makes may not be taken.
try taken "add_custom_target(lib_stark_tune)
stark_optimize_kernels(lib SOURCES a.cu)"
try taken-of-all "add_custom_target(stark_check)
stark_optimize_kernels(lib SOURCES a.cu)"
try tune-attempts 'stark_optimize_kernels(lib SOURCES a.cu)' -DSTARK_TUNE_ATTEMPTS=some
