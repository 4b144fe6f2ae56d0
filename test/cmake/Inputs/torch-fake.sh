# torch-fake.sh BUILD CMAKE INPUTS: what test/cmake/torch-fake.test looks at.
. "$3/torch.sh"
sh "$3/fake_torch.sh" "$PWD/torch" 2.11.0

echo "== no entry"
configure made "$PWD/torch" -DCMAKE_CUDA_FLAGS=-no-compress
cat made/CMakeFiles/stark/ops/*/flags.CUDA
make_it made

echo "== winner"
search made
make_it made
make_it made
strings -n 4 made/libops.so

echo "== headers"
cat project/stark-store/scale.cu/*/entry.json
cat made/CMakeFiles/stark/ops/*/depends
echo "prompts that show them: $(grep -l -r libtorch-says-this ask | wc -l) of $(find ask -name '*-plan-*.json' | wc -l)"

echo "== symbols"
configure plain "$PWD/torch" -DCMAKE_CUDA_FLAGS=-no-compress -DPLAIN=ON
make_it plain > /dev/null
nm -D --defined-only made/libops.so | sed 's/^[0-9a-f]* //' > made.txt
nm -D --defined-only plain/libops.so | sed 's/^[0-9a-f]* //' > plain.txt
cmp made.txt plain.txt && cat made.txt

echo "== OFF"
cp plain/compile_commands.json plain/build.ninja . && rm -rf plain
configure plain "$PWD/torch" -DCMAKE_CUDA_FLAGS=-no-compress -DSTARK_MODE=OFF
cmp plain/compile_commands.json compile_commands.json && cmp plain/build.ninja build.ninja && echo the same

echo "== elsewhere"
mv torch moved
echo "// another build of it" >> moved/include/ATen/core/Tensor.h
rm -rf made && configure made "$PWD/moved" -DCMAKE_CUDA_FLAGS=-no-compress -DSTARK_MODE=REQUIRE
"$cmake" --build made --target ops_stark 2>&1

echo "== other version"
sed -i 's/MINOR 11/MINOR 12/' moved/include/torch/headeronly/version.h
"$cmake" --build made --target ops_stark 2>&1 || true

echo "== architectures"
configure several "$PWD/moved" -DCMAKE_CUDA_FLAGS=-gencode=arch=compute_80,code=sm_80
grep -i warning configure.txt || true
grep "stark-cache lookup" several/build.ninja | grep -o -e "--arch=[a-z0-9_]*"
echo "== end"
