# torch-real.sh BUILD CMAKE INPUTS PYTHON: what test/cmake/torch.test looks at.
. "$3/torch.sh"
package=$("$4" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')/share/cmake
configure made "$package" -DTORCH_CUDA_ARCH_LIST=9.0+PTX -DCMAKE_CUDA_FLAGS=-no-compress -DSTARK_MODE=REQUIRE
search made
make_it made
make_it made
strings -n 4 made/libops.so
nm -DC --defined-only made/libops.so
cat project/stark-store/scale.cu/*/entry.json
