# How lit runs Stark's tests. The suite needs no GPU, network or key; a test
# that is skipped says why with REQUIRES.

import ctypes
import os
import shutil
import sys
import lit.formats

config.name = "stark"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".test", ".cu", ".cpp"]
config.excludes = ["Inputs", "CMakeLists.txt", "unit", "consumers", "fuzz"]
config.test_source_root = os.path.join(config.stark_source, "test")
config.test_exec_root = os.path.join(config.stark_build, "test")

bin_dir = os.path.join(config.stark_build, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools, os.path.join(config.cuda_root, "bin"), os.environ["PATH"]]
)
config.environment["LC_ALL"] = "C.UTF-8"
# The source tree stays as it is: nothing a test runs may write there.
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# Nothing of the user's may reach a test, nor a test the user's cache.
config.environment["STARK_CACHE_DIR"] = os.path.join(config.test_exec_root, "no-user-cache")
config.environment["STARK_REMOTE"] = ""
# Modelled times are the same with an nvcc as without.
config.environment["STARK_SIM_REGISTERS"] = "estimated"
if config.cuda_root:
    config.environment["CUDA_PATH"] = config.cuda_root
    config.available_features.add("cuda-toolkit")
if config.cupti:
    config.available_features.add("cupti")
if config.stark_sanitize:
    config.available_features.add("sanitizer")
    # The sanitizer's library comes after one that a test preloads.
    config.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
if config.stark_header_sets:
    config.available_features.add("header-sets")
if shutil.which("dpkg-shlibdeps"):
    config.available_features.add("deb")
for server in ("redis-server", "nginx"):
    if shutil.which(server, path=os.environ["PATH"] + ":/usr/sbin"):
        config.available_features.add(server)
sbin = os.environ["PATH"] + ":/usr/sbin"
if all(shutil.which(program, path=sbin) for program in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")):
    config.available_features.add("slurm")
if config.stark_hiredis:
    config.available_features.add("hiredis")
if shutil.which("openssl"):
    config.available_features.add("openssl")
if shutil.which("cc"):
    config.available_features.add("cc")

config.substitutions.append(("%stark-tool", os.path.join(bin_dir, "stark-tool")))
config.substitutions.append(("%stark-worker", os.path.join(bin_dir, "stark-worker")))
config.substitutions.append(("%stark-cache", os.path.join(bin_dir, "stark-cache")))
config.substitutions.append(
    ("%ask", "%s %s" % (sys.executable, os.path.join(config.stark_source, "test", "llm", "Inputs", "fake_server.py")))
)
config.substitutions.append(("%question", os.path.join(bin_dir, "stark-tool") + " ask --provider {config} hello 2>&1"))
config.substitutions.append(("%root", config.stark_source))
config.substitutions.append(("%build", config.stark_build))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%cuda", config.cuda_root))
# A model server that `utils/llama-test --set-up-only` installed.
llama = os.environ.get("STARK_LLAMA") or os.path.join(config.stark_source, "build", "llama")
config.substitutions.append(("%llama", llama))
if os.path.exists(os.path.join(llama, "ready.json")):
    config.available_features.add("real-server")
# A Python with torch that `utils/setup --torch` made.
torch = os.environ.get("STARK_TORCH") or os.path.join(config.stark_source, "build", "torch")
torch_python = os.path.join(torch, "python3")
config.substitutions.append(("%torch-python", torch_python))
# Several imports for the price of one: `%imports FOLDER FILE [OPTION]... + FILE ...`.
imports = os.path.join(config.stark_source, "test", "import", "Inputs", "imports.py")
config.substitutions.append(
    ("%imports", " ".join([torch_python, "-B", imports, os.path.join(config.stark_source, "utils"), os.path.join(bin_dir, "stark-tool")]))
)
# Reading libtorch's headers takes minutes where the disk is slow: what the
# compilers keep of them, half a GB, is made once, for all builds of this folder.
beside = os.path.dirname(config.stark_build)
of_all = beside if beside == os.path.join(config.stark_source, "build") else config.test_exec_root
torch_cache = os.path.join(of_all, "torch-cache")
config.substitutions.append(("%torch-cache", torch_cache))
if os.path.exists(torch_python) and shutil.which("g++"):
    config.available_features.add("torch")
    config.environment["STARK_TORCH"] = torch
# A browser that `utils/setup --chromium` installed, and what drives it.
if all(os.path.exists(path) for path in ("/usr/bin/chromium", "/usr/bin/chromedriver", "/usr/lib/python3/dist-packages/selenium")):
    config.available_features.add("chromium")
if ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 1:
    config.available_features.add("landlock")
