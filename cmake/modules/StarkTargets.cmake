# stark_add_library(Name [SOURCES a.cpp ...] [DEPENDS Lower ...])
#   The library Stark<Name> of lib/<Name>, with its public headers in
#   include/stark/<Name>; without SOURCES these are all of it. DEPENDS names
#   Stark libraries below it (utils/check-layering holds the order). That each
#   header compiles alone is checked by the target
#   all_verify_interface_header_sets, which the preset dev builds.
# stark_link_llvm(target CLANG|SUPPORT)
#   Links a program: CLANG brings Clang and LLVM (shared, or static with
#   STARK_STATIC_LLVM); SUPPORT brings only LLVM's support library, statically,
#   for programs that must start within milliseconds.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

function(stark_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${STARK_WERROR}>>:-Werror>)
  if(STARK_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${STARK_SANITIZE} -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=${STARK_SANITIZE})
    # These two take a third of the time to compile; a null pointer is found
    # without them.
    if(STARK_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment>)
    endif()
    # GCC's own manual: sanitizers lead to false reports of this one, here in
    # LLVM's headers. A build without them still warns.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  endif()
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
endfunction()

function(stark_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stark_add_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(Stark${name} STATIC ${arg_SOURCES})
    stark_compile_options(Stark${name})
  else()
    set(scope INTERFACE)
    add_library(Stark${name} INTERFACE)
    target_compile_features(Stark${name} INTERFACE cxx_std_20)
  endif()
  # All there are, so that none is forgotten.
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/stark/${name}/*.h")
  target_sources(Stark${name} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  target_include_directories(Stark${name} SYSTEM ${scope} ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
  target_compile_definitions(Stark${name} ${scope} ${LLVM_DEFINITIONS_LIST})
  foreach(dep IN LISTS arg_DEPENDS)
    target_link_libraries(Stark${name} ${scope} Stark${dep})
  endforeach()
endfunction()

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

function(stark_link_llvm target what)
  if(what STREQUAL "CLANG")
    if(STARK_STATIC_LLVM)
      # Clang's own targets bring the shared LLVM where a distribution built them
      # with it, so the archives are named. Clang's code generator was built with
      # Polly where libLLVMExtensions.a says so (Debian: libpolly-19-dev).
      if(TARGET Polly AND NOT EXISTS "${LLVM_LIBRARY_DIR}/libPolly.a")
        message(FATAL_ERROR
          "STARK_STATIC_LLVM: ${LLVM_LIBRARY_DIR}/libPolly.a is missing, which this LLVM needs; on Debian: "
          "apt-get install libpolly-${LLVM_VERSION_MAJOR}-dev")
      endif()
      set(archives "")
      foreach(lib IN ITEMS CodeGen Tooling ToolingCore Frontend Driver Serialization Parse Sema Analysis Edit
          ASTMatchers AST Rewrite Format ToolingInclusions Lex Basic APINotes Support)
        list(APPEND archives "${LLVM_LIBRARY_DIR}/libclang${lib}.a")
      endforeach()
      llvm_map_components_to_libnames(llvm support option object demangle frontendopenmp frontendhlsl
        frontendoffloading frontenddriver windowsdriver targetparser profiledata bitreader bitstreamreader
        orcjit native passes lto coverage irprinter irreader hipstdpar)
      target_link_libraries(${target} PRIVATE "$<LINK_GROUP:RESCAN,${archives}>" ${llvm})
    else()
      target_link_libraries(${target} PRIVATE clang-cpp LLVM)
    endif()
  elseif(what STREQUAL "SUPPORT")
    target_link_libraries(${target} PRIVATE LLVMSupport)
  else()
    message(FATAL_ERROR "stark_link_llvm(${target}): got '${what}', wanted CLANG or SUPPORT")
  endif()
endfunction()
