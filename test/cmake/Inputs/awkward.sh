# awkward.sh BUILD CMAKE ROOT: what test/cmake/awkward.test looks at.
set -e
build=$1 cmake=$2 root=$3
project="a, b (é) [x] co+%20"
mkdir -p "$project/sub"
for folder in "$project" "$project/sub"; do
  cp "$root"/examples/softmax/softmax.* "$folder"
done
cat > "$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(awkward LANGUAGES CUDA)
find_package(Stark REQUIRED)

# Two of one name, one of which another command makes, in two calls.
add_custom_command(OUTPUT made/softmax.cu
  COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_SOURCE_DIR}/softmax.cu" "${CMAKE_CURRENT_SOURCE_DIR}/softmax.h" made
  DEPENDS softmax.cu VERBATIM)
file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/made")
add_library(objects OBJECT "${CMAKE_CURRENT_BINARY_DIR}/made/softmax.cu" sub/softmax.cu $<$<BOOL:OFF>:missing.cu>)
set_source_files_properties(sub/softmax.cu PROPERTIES COMPILE_DEFINITIONS "launch_softmax=other_softmax;softmax_kernel=other_kernel")
target_compile_definitions(objects PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:NDEBUG>")
set_target_properties(objects PROPERTIES UNITY_BUILD ON)
stark_optimize_kernels(objects SOURCES "${CMAKE_CURRENT_BINARY_DIR}/made/softmax.cu" WORKLOADS softmax.workload.json STORE "${STORE}")
stark_optimize_kernels(objects SOURCES sub/softmax.cu STORE "${STORE}")

# Another target has the objects.
add_library(whole SHARED $<TARGET_OBJECTS:objects>)
set_target_properties(objects whole PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_SEPARABLE_COMPILATION "${SEPARABLE}")
END
configure() { # [-DNAME=VALUE...]
  "$cmake" -G Ninja -S "$project" -B "$project/build" "-DStark_DIR=$build" "-DSTORE=$root/examples/store" \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/toolchain.cmake" "$@" > configure.txt 2>&1 || { cat configure.txt; exit 1; }
}
cat > toolchain.cmake <<'END'
set(CMAKE_CUDA_ARCHITECTURES 90)
set(CMAKE_CUDA_COMPILER_LAUNCHER env FROM_TOOLCHAIN=1)
set(CMAKE_CUDA_USE_RESPONSE_FILE_FOR_INCLUDES 1)
END

echo "== off"
configure -DSTARK_MODE=OFF
ninja -C "$project/build" > log.txt 2>&1 || cat log.txt
nm -C --defined-only "$project/build/libwhole.so" | grep -c " T .*softmax("

echo "== winners"
configure -DSTARK_MODE=AUTO
ninja -C "$project/build" > log.txt 2>&1 || cat log.txt
grep -i warning log.txt
nm -C --defined-only "$project/build/libwhole.so" | grep -c " T .*softmax("
nm -C "$project/build/libwhole.so" | grep -c "softmax_stark_"
ninja -C "$project/build" | tail -n 1

echo "== separable"
# Of other flags: without winners, and the same objects as before.
configure -DSTARK_MODE=AUTO -DSEPARABLE=ON
ninja -C "$project/build" objects_stark objects_stark2 2>&1 | grep -o "warning: .*"
echo "== end"
