# package.sh BUILD CMAKE ROOT: what test/cmake/package.test looks at.
set -e
build=$1 cmake=$2 root=$3

echo "== several configurations"
"$cmake" -G "Ninja Multi-Config" -S scale -B multi "-DStark_DIR=$build" -DCMAKE_CUDA_ARCHITECTURES=90 \
  "-DCMAKE_CUDA_FLAGS_DEBUG=-DONLY_DEBUG=1" > configure.txt 2>&1 || { cat configure.txt; exit 1; }
"$cmake" --build multi --config Debug --target scale_stark
"$cmake" --build multi --config Release --target scale
"$cmake" --build multi --config Release --target scale
grep -l ONLY_DEBUG multi/CMakeFiles/stark/scale/*/*/flags.CUDA | sed 's/.*\(\/[A-Za-z]*\/flags\)/\1/'

echo "== components"
mkdir components
for wanted in "0.1 CONFIG REQUIRED COMPONENTS cache tool" "0.1 CONFIG REQUIRED COMPONENTS cache nothing" "0.9 CONFIG REQUIRED"; do
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\nfind_package(Stark %s)\n' "$wanted" > components/CMakeLists.txt
  rm -rf found
  "$cmake" -G Ninja -S components -B found "-DStark_DIR=$build" > out 2>&1 && echo "found" || tr -s '\n ' ' ' < out
  echo
done

echo "== as a folder"
mkdir folder
cp -r scale/src scale/include folder
cat > folder/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES CXX CUDA)
add_subdirectory("$root" stark EXCLUDE_FROM_ALL)
find_package(Stark 0.1 CONFIG REQUIRED)
add_library(scale OBJECT src/scale.cu)
target_include_directories(scale PUBLIC include)
stark_optimize_kernels(scale)
END
"$cmake" -G Ninja -S folder -B in-tree -DCMAKE_CUDA_ARCHITECTURES=90 > out 2>&1 || { cat out; exit 1; }
grep -c "in-tree/stark/bin/stark-cache lookup" in-tree/build.ninja

echo "== fetched"
# What a release's archive holds, at an address; nothing of it is built here.
tar czf archive.tar.gz --exclude=./build --exclude=./.git --exclude=./test --exclude=./examples --exclude=./docs \
  --transform 's,^\.,stark-0.1,' -C "$root" .
mkdir fetching
cp -r scale/src scale/include fetching
cat > fetching/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES CXX CUDA)
include(FetchContent)
FetchContent_Declare(Stark URL "file://$PWD/archive.tar.gz"
  URL_HASH SHA256=$(sha256sum archive.tar.gz | cut -d ' ' -f 1) DOWNLOAD_EXTRACT_TIMESTAMP TRUE)
FetchContent_MakeAvailable(Stark)
find_package(Stark 0.1 CONFIG REQUIRED COMPONENTS cache tool)
add_library(scale OBJECT src/scale.cu)
target_include_directories(scale PUBLIC include)
stark_optimize_kernels(scale)
END
"$cmake" -G Ninja -S fetching -B fetched -DCMAKE_CUDA_ARCHITECTURES=90 > out 2>&1 || { cat out; exit 1; }
test -f fetched/_deps/stark-src/LICENSE
grep -c "fetched/_deps/stark-build/bin/stark-cache lookup" fetched/build.ninja

echo "== Debian packages"
(cd "$build" && cpack -G DEB -B "$OLDPWD/packages" > "$OLDPWD/out" 2>&1) || { cat out; exit 1; }
for package in packages/*.deb; do
  dpkg-deb -f "$package" Package Version
  dpkg-deb -c "$package" | sed -n 's/.*\(\.\/usr\/[^ ]*\)$/\1/p'
done
for package in packages/*.deb; do dpkg-deb -x "$package" unpacked; done
unpacked/usr/bin/stark-cache --version | head -1
echo "== end"
