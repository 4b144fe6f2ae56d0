//===- ContractNames.cpp - What a candidate may not use ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;
using llvm::StringRef;

namespace {
/// Names, parted by blanks, and what each of them could do.
struct Ban {
  Harm Why;
  StringRef Names;
};

/// The bans' names, to be looked up.
class BanMap {
public:
  explicit BanMap(llvm::ArrayRef<Ban> Bans) {
    for (const Ban &B : Bans)
      for (StringRef Name : llvm::split(B.Names, ' '))
        Harms.try_emplace(Name, B.Why);
  }
  std::optional<Harm> find(StringRef Name) const {
    auto Found = Harms.find(Name);
    return Found == Harms.end() ? std::nullopt : std::optional(Found->second);
  }

private:
  llvm::StringMap<Harm> Harms;
};
} // namespace

static llvm::StringSet<> setOf(StringRef Names) {
  llvm::StringSet<> Set;
  for (StringRef Name : llvm::split(Names, ' '))
    Set.insert(Name);
  return Set;
}

/// Each name of its own, for what begins or ends otherwise than the name.
static std::vector<std::pair<StringRef, Harm>> each(llvm::ArrayRef<Ban> Bans) {
  std::vector<std::pair<StringRef, Harm>> All;
  for (const Ban &B : Bans)
    for (StringRef Name : llvm::split(B.Names, ' '))
      All.emplace_back(Name, B.Why);
  return All;
}

/// Names that begin so are refused, but for those allowed.
static const Ban Prefixes[] = {
    {Harm::Streams, "cudaStream __cudaPush __cudaPop cuStream"},
    {Harm::Events, "cudaEvent cudaLaunchAttributeLaunchCompletion "
                   "cudaLaunchAttributeProgrammaticEvent cuEvent"},
    {Harm::Graphs, "cudaGraph cuGraph"},
    {Harm::Threads, "cudaLaunchHostFunc pthread_ thrd_ posix_spawn omp_ sem_ "
                    "__gthread_"},
    {Harm::Device,
     "cudaLaunchAttributeAccessPolicy cudaAccessPropertyPersisting "
     "cudaDeviceSet cudaDeviceReset cudaDeviceEnablePeer "
     "cudaDeviceDisablePeer cudaDeviceGetDefaultMemPool "
     "cudaDeviceGetMemPool cudaDeviceFlush cudaSetDevice "
     "cudaSetValidDevices cudaInitDevice cudaCtx cudaThread "
     "cudaProfiler cudaHostRegister cudaHostUnregister cuInit cuCtx "
     "cuDevice cuDevicePrimary cuDriver cuMem cuArray cuMipmapped "
     "cuPointer cuProfiler cuGreenCtx cuMulticast cuCoredump nvml cupti"},
    {Harm::State, "cudaMemPool cudaMallocFromPool cudaUserObject "
                  "cudaGetSymbolAddress cudaMemcpyToSymbol cuUserObject"},
    {Harm::Files, "cudaIpc cudaImportExternal cudaExternal cudaDestroyExternal "
                  "cudaSignalExternal cudaWaitExternal cuIpc cuImportExternal "
                  "cuExternal cuSignalExternal cuWaitExternal"},
    {Harm::Loading,
     "cudaLibrary cudaKernel cudaGetKernel cudaGetDriverEntryPoint "
     "cudaGetFuncBySymbol cudaGetExportTable __cudaRegister "
     "__cudaUnregister __cudaInit cuModule cuLibrary cuLink cuLaunch "
     "cuKernel cuFunc cuGetProcAddress cuGetExportTable nvrtc nvJitLink "
     "_dl_"},
    {Harm::Process, "__libc_ process_vm_"},
    {Harm::Judge, "stark_"},
};

static constexpr StringRef Allowed =
    "cudaStream_t cudaStreamSynchronize cudaStreamQuery "
    "cudaStreamIsCapturing cudaStreamCaptureStatus "
    "cudaStreamCaptureStatusNone cudaStreamCaptureStatusActive "
    "cudaStreamGetDevice";

static const Ban BannedWords[] = {
    {Harm::Loading,
     "dlopen dlsym dlmopen dlvsym dladdr dladdr1 dlinfo dlclose "
     "dl_iterate_phdr mprotect mmap mmap64 mremap memfd_create _r_debug"},
    {Harm::Threads,
     "fork vfork execv execve execvp execvpe execl execlp execle "
     "fexecve popen jthread packaged_task condition_variable call_once "
     "sigaction sigprocmask sigaltstack setitimer timer_create clone3 "
     "waitpid sched_setaffinity sched_yield"},
    {Harm::Files,
     "fopen fopen64 freopen freopen64 fdopen openat openat64 open64 "
     "opendir tmpfile mkstemp creat socket socketpair shm_open shmget "
     "shmat ifstream ofstream fstream basic_ifstream basic_ofstream "
     "basic_fstream basic_filebuf filebuf pread pwrite epoll_create "
     "epoll_wait inotify_init ioctl fcntl"},
    {Harm::Process,
     "getenv secure_getenv setenv putenv unsetenv clearenv environ "
     "__environ ptrace syscall prctl userfaultfd setjmp _setjmp "
     "sigsetjmp longjmp siglongjmp _exit _Exit quick_exit atexit "
     "at_quick_exit on_exit __cxa_atexit setrlimit personality setuid "
     "chroot __builtin_setjmp __builtin_longjmp backtrace "
     "__builtin_return_address __builtin_frame_address __builtin_dwarf_cfa "
     "__builtin_extract_return_addr __builtin_frob_return_addr "
     "__builtin_unwind_init __builtin_eh_return "
     "__builtin_eh_return_data_regno getcontext "
     "setcontext makecontext swapcontext"},
    {Harm::Clocks,
     "clock_gettime clock_settime gettimeofday timespec_get "
     "clock_nanosleep usleep chrono high_resolution_clock steady_clock "
     "system_clock __rdtsc __rdtscp _rdtsc __builtin_ia32_rdtsc "
     "__builtin_ia32_rdtscp globaltimer __globaltimer globaltimer_lo "
     "__builtin_readcyclecounter __builtin_readsteadycounter"},
    // What a call has set for a kernel the next one could read.
    {Harm::State, "once_flag maxDynamicSharedSizeBytes preferredShmemCarveout "
                  "requiredClusterWidth requiredClusterHeight "
                  "requiredClusterDepth nonPortableClusterSizeAllowed "
                  "clusterSchedulingPolicyPreference"},
    {Harm::Process,
     "_rdrand16_step _rdrand32_step _rdrand64_step _rdseed16_step "
     "_rdseed32_step _rdseed64_step __builtin_ia32_rdrand16_step "
     "__builtin_ia32_rdrand32_step __builtin_ia32_rdrand64_step "
     "__builtin_ia32_rdseed_hi_step __builtin_ia32_rdseed_si_step "
     "__builtin_ia32_rdseed_di_step _rdpid_u32 __builtin_ia32_rdpid "
     "__builtin_cpu_supports __builtin_cpu_is __builtin_cpu_init "
     "__builtin_thread_pointer"},
    {Harm::Place,
     "__LINE__ __FILE__ __FILE_NAME__ __BASE_FILE__ __INCLUDE_LEVEL__ "
     "__COUNTER__ __DATE__ __TIME__ __TIMESTAMP__ __FUNCTION__ __FUNCSIG__ "
     "__FUNCDNAME__ __PRETTY_FUNCTION__ __func__ __builtin_LINE "
     "__builtin_COLUMN __builtin_FILE __builtin_FILE_NAME __builtin_FUNCTION "
     "__builtin_FUNCSIG __builtin_source_location "
     "__builtin_sycl_unique_stable_name source_location stacktrace typeid "
     "cudaFuncGetName"},
    {Harm::Device, "accessPolicyWindow"},
};

/// "cuMem" bans cuMemAlloc: cuMemory and the like are somebody's own names.
static bool beginsWith(StringRef Name, StringRef Prefix) {
  if (!Name.starts_with(Prefix))
    return false;
  StringRef Rest = Name.substr(Prefix.size());
  bool Driver =
      Prefix.starts_with("cu") && Prefix.size() > 2 && llvm::isUpper(Prefix[2]);
  return !Driver || Rest.empty() || llvm::isUpper(Rest[0]) || Rest[0] == '_' ||
         Rest.starts_with("cpy") || Rest.starts_with("set");
}

std::optional<Harm> stark::forbiddenWord(StringRef Name) {
  static const llvm::StringSet<> Fine = setOf(Allowed);
  static const BanMap Banned(BannedWords);
  static const auto Begins = each(Prefixes);
  if (Fine.contains(Name))
    return std::nullopt;
  for (auto [Prefix, Why] : Begins)
    if (beginsWith(Name, Prefix))
      return Why;
  return Banned.find(Name);
}

static const Ban Calls[] = {
    {Harm::Files,
     "open read write readv writev lseek pipe pipe2 dup dup2 dup3 bind "
     "listen accept connect send sendto recv recvfrom select poll "
     "remove rename unlink link symlink chmod mkdir rmdir chdir stat "
     "access truncate"},
    {Harm::Threads, "system clone wait daemon kill raise signal alarm nice"},
    {Harm::Clocks, "clock time times sleep nanosleep ftime"},
};

std::optional<Harm> stark::forbiddenFunction(StringRef Name) {
  static const BanMap Banned(Calls);
  return Banned.find(Name);
}

/// What takes memory or a handle, and what gives it back.
static constexpr std::pair<StringRef, StringRef> Takers[] = {
    {"cudaMalloc cudaMallocPitch cudaMalloc3D cudaMallocManaged "
     "cudaMallocAsync",
     "cudaFree cudaFreeAsync"},
    {"cudaMallocHost cudaHostAlloc", "cudaFreeHost"},
    {"cudaMallocArray cudaMalloc3DArray", "cudaFreeArray"},
    {"cudaMallocMipmappedArray", "cudaFreeMipmappedArray"},
    {"cudaCreateTextureObject", "cudaDestroyTextureObject"},
    {"cudaCreateSurfaceObject", "cudaDestroySurfaceObject"},
    {"malloc calloc aligned_alloc posix_memalign strdup strndup", "free"}};

StringRef stark::givesBack(StringRef Taker) {
  for (auto [Names, Back] : Takers)
    if (llvm::is_contained(llvm::split(Names, ' '), Taker))
      return Back;
  return "";
}

/// What keeps nothing of a call, nor tells anything of the process, its user or
/// the machine. Mathematics is in other headers than these.
static constexpr StringRef Harmless =
    // Memory and strings.
    "memcpy memmove memset memcmp memchr memrchr mempcpy memccpy memmem bcopy "
    "bzero strlen strnlen strcpy strncpy strcat strncat strcmp strncmp "
    "strcasecmp strncasecmp strchr strrchr strchrnul strstr strspn strcspn "
    "strpbrk strdup strndup strtok_r strsep stpcpy stpncpy malloc calloc "
    "realloc reallocarray free aligned_alloc posix_memalign "
    // Numbers.
    "atoi atol atoll atof strtol strtoll strtoul strtoull strtod strtof "
    "strtold abs labs llabs div ldiv lldiv qsort bsearch isalnum isalpha "
    "isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper "
    "isxdigit tolower toupper "
    // What is printed, and the end of the process.
    "printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts "
    "fputs putchar putc fputc fwrite fflush perror abort exit __assert_fail "
    "__assert __assert_rtn";

bool stark::keepsNothing(StringRef Name) {
  static const llvm::StringSet<> Names = setOf(Harmless);
  return Names.contains(Name);
}

bool stark::ofCuda(StringRef Name) {
  for (StringRef Library : {"cuda", "cublas", "cufft", "curand", "cusparse",
                            "cusolver", "cudnn", "cutensor", "nccl", "__cuda"})
    if (Name.starts_with(Library))
      return true;
  return Name.size() > 2 && Name.starts_with("cu") && llvm::isUpper(Name[2]);
}

static const Ban Scopes[] = {
    {Harm::Threads,
     "std::thread std::jthread std::async std::this_thread std::future "
     "std::promise std::packaged_task std::condition_variable "
     "std::call_once std::launch"},
    {Harm::Files,
     "std::filesystem std::experimental::filesystem std::basic_ifstream "
     "std::basic_ofstream std::basic_fstream std::basic_filebuf"},
    {Harm::Clocks, "std::chrono cuda::std::chrono"},
    {Harm::Streams,
     "cuda::stream cuda::event cuda::timed_event cuda::experimental"},
    {Harm::State,
     "std::set_new_handler std::get_new_handler std::set_terminate "
     "std::get_terminate std::set_unexpected std::get_unexpected "
     "std::random_device std::locale std::ios_base::xalloc "
     "std::ios_base::sync_with_stdio std::pmr::set_default_resource "
     "std::pmr::get_default_resource std::pmr::new_delete_resource"},
};

std::optional<Harm> stark::forbiddenQualified(StringRef Name) {
  static const auto Each = each(Scopes);
  for (auto [Scope, Why] : Each)
    if (StringRef Rest = Name;
        Rest.consume_front(Scope) && (Rest.empty() || Rest.starts_with("::")))
      return Why;
  return std::nullopt;
}

static const Ban HeaderPrefixes[] = {
    {Harm::Process, "sys/ netinet/ arpa/ linux/ asm/ asm-generic/ bits/"},
    {Harm::Loading, "nvrtc nvml cupti nvJitLink"},
};

static const Ban Headers[] = {
    {Harm::Threads,
     "thread future condition_variable stop_token semaphore pthread.h "
     "threads.h spawn.h semaphore.h omp.h sched.h csignal signal.h"},
    {Harm::Files, "fstream filesystem experimental/filesystem fcntl.h unistd.h "
                  "dirent.h poll.h aio.h mqueue.h netdb.h"},
    {Harm::Process,
     "dlfcn.h link.h elf.h setjmp.h csetjmp ucontext.h execinfo.h "
     "cuda_profiler_api.h cudaProfiler.h syscall.h x86intrin.h"},
};

std::optional<Harm> stark::forbiddenHeader(StringRef Name) {
  static const BanMap Banned(Headers);
  static const auto Begins = each(HeaderPrefixes);
  for (auto [Prefix, Why] : Begins)
    if (Name.starts_with(Prefix))
      return Why;
  return Banned.find(Name);
}

bool stark::forbiddenAttribute(StringRef Name) {
  static const llvm::StringSet<> Names =
      setOf("constructor destructor weak weakref weak_import alias ifunc "
            "section init_priority visibility copy externally_visible retain "
            "naked symver target target_version target_clones "
            "no_instrument_function dllexport "
            "init_seg cleanup");
  Name.consume_front("__");
  Name.consume_back("__");
  return Names.contains(Name);
}

/// Of the language's types, which all compilers for one machine agree on.
static bool isOfTypes(StringRef Name) {
  static const auto Begins =
      llvm::split("__FLT_ __DBL_ __LDBL_ __FLT16_ __INT __UINT __LONG_ __SHRT_ "
                  "__SCHAR_ __CHAR __SIZE __PTRDIFF __WCHAR __SIG_ATOMIC",
                  ' ');
  return llvm::any_of(
      Begins, [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

bool stark::predefinedWord(StringRef Name) {
  static const llvm::StringSet<> Lower =
      setOf("__pic__ __pie__ __unix__ __unix unix __linux__ __linux linux "
            "__gnu_linux__ __x86_64__ __x86_64 __amd64__ __amd64 __i386__ "
            "__i386 i386 __k8__ __k8 __clang__ __llvm__ __cplusplus "
            "__nvcc_device_query__ __aarch64__ __wasm__ __tune_ia32__");
  if (Lower.contains(Name))
    return true;
  if (!Name.consume_front("__"))
    return false;
  for (StringRef Prefix :
       {"clang_", "cpp_", "has_", "is_identifier", "code_model_", "NVCC",
        "NVCOMPILER", "EDG", "PGI", "CUDACC", "CUDA_ARCH_LIST", "INTEL_",
        "GNUC", "GNUG", "STDC", "GXX_", "GCC_", "GLIBC"})
    if (Name.starts_with(Prefix))
      return true;
  // __OPTIMIZE__, __VERSION__, __AVX2__: nobody else has names of this form.
  if (Name.starts_with("CUDA_ARCH_FEAT_") || Name == "CUDA_ARCH__" ||
      isOfTypes(("__" + Name).str()))
    return false;
  return !Name.starts_with("VA_") && Name.consume_back("__") && !Name.empty() &&
         llvm::all_of(Name, [](char C) {
           return llvm::isUpper(C) || llvm::isDigit(C) || C == '_';
         });
}

bool stark::languageWord(StringRef Name) {
  static const llvm::StringSet<> Words =
      setOf("alignas asm auto bool break case catch char class const constexpr "
            "const_cast continue decltype default delete do double "
            "dynamic_cast else enum explicit extern false float for friend "
            "goto if inline int long mutable namespace new noexcept nullptr "
            "operator private protected public register reinterpret_cast "
            "return short signed sizeof static static_assert static_cast "
            "struct switch template this thread_local throw true try typedef "
            "typeid typename union unsigned using virtual void volatile while "
            "threadIdx blockIdx blockDim gridDim warpSize main defined");
  return Words.contains(Name) || Name.starts_with("__") ||
         (Name.starts_with("cuda") && Name.size() > 4 &&
          llvm::isUpper(Name[4])) ||
         (Name.size() > 2 && Name.starts_with("cu") &&
          llvm::isUpper(Name[2])) ||
         Name.starts_with("CUDART");
}
