#[=======================================================================[.rst:
stark_optimize_kernels
----------------------

Builds CUDA sources of a target as their winners::

  stark_optimize_kernels(<target>
    [SOURCES <file.cu>...]     # default: every .cu source with a workload
    [WORKLOADS <file.json>...] # default: NAME.workload.json and
                               # NAME.*.workload.json beside NAME.cu
    [STORE <dir>]              # committed winners; default: stark-store beside
                               # the CMakeLists.txt that calls this
    [ATTEMPTS <n>] [SEED <n>]  # of a search; defaults 30 and 1
    [PROVIDER <spec>] [EVALUATOR <spec>] # of a search; defaults
                               # STARK_PROVIDER and STARK_EVALUATOR
    [MODEL <name>] [BASE_URL <url>] # of an HTTP provider; defaults STARK_MODEL
                               # and STARK_BASE_URL, then the provider's
    [BUDGET <limit>...]        # of each source's search, e.g. usd=2.50
                               # minutes=90; default STARK_BUDGET, then none
    [PRESET <name>] [JOBS <n>] # of a search; defaults stark and 1
    [ARCH <sm_NN>]             # of a search; default: the newest of
                               # CUDA_ARCHITECTURES
    [MODE <mode>])             # default: STARK_MODE

STARK_MODE:

``AUTO``     store, then the user's cache, then a search if a provider and an
             evaluator are set, then the source as it is, with one warning
``CACHED``   like AUTO, but never searches
``SEARCH``   searches when there is no winner yet; fails when it cannot
``REQUIRE``  a missing winner is an error
``OFF``      the build is what it would be without this function

The build needs neither a GPU nor a model unless it searches. Made beside it,
built by name alone, for this target and (stark_tune, ...) for all:

``<target>_stark_tune``    searches on purpose and keeps the better winner
``<target>_stark_check``   compares and times the winners again on this GPU
``<target>_stark_report``  the searches as a page

docs/cmake.md has more.
#]=======================================================================]

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/StarkTargetFlags.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/StarkVerbTargets.cmake")

# The modes of a look-up, and OFF, with which there is none.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/BuildModes.def" _stark_modes REGEX "^STARK_BUILD_MODE")
list(TRANSFORM _stark_modes REPLACE "^.*\"([A-Z]+)\".*$" "\\1")
list(APPEND _stark_modes OFF)
list(JOIN _stark_modes ", " _stark_mode_names)
set(STARK_MODE AUTO CACHE STRING "How stark_optimize_kernels() finds winners: ${_stark_mode_names}")
set_property(CACHE STARK_MODE PROPERTY STRINGS ${_stark_modes})
unset(_stark_modes)
unset(_stark_mode_names)
set(STARK_PROVIDER "" CACHE STRING "Who answers the agents when a build searches, e.g. exchange:DIR")
set(STARK_MODEL "" CACHE STRING "Model of an HTTP provider when a build searches; empty: the provider's")
set(STARK_BASE_URL "" CACHE STRING "Address of an HTTP provider when a build searches; empty: the provider's")
set(STARK_BUDGET "" CACHE STRING "Limits of each source's search, e.g. usd=2.50;minutes=90")
set(STARK_TUNE_ATTEMPTS "" CACHE STRING "Attempts that <target>_stark_tune adds to a search; empty: ATTEMPTS")
set(STARK_EVALUATOR "" CACHE STRING "Who judges candidates when a build searches, e.g. cuda, spool:DIR, slurm:PARTITION")

function(stark_optimize_kernels target)
  set(one STORE ATTEMPTS SEED PROVIDER EVALUATOR MODEL BASE_URL PRESET JOBS ARCH MODE)
  set(many SOURCES WORKLOADS BUDGET)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "${one}" "${many}")
  set(call "stark_optimize_kernels(${target})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call}: unknown arguments '${arg_UNPARSED_ARGUMENTS}'; known are ${many};${one}")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call}: no value was given for ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${call}: there is no target '${target}'; call this after add_library() or add_executable()")
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  get_target_property(imported ${target} IMPORTED)
  get_target_property(type ${target} TYPE)
  if(aliased OR imported OR type STREQUAL "INTERFACE_LIBRARY" OR type STREQUAL "UTILITY")
    message(FATAL_ERROR "${call}: got an alias, imported, interface or custom target, wanted one that is compiled here")
  endif()

  set(mode "${STARK_MODE}")
  if(arg_MODE)
    set(mode "${arg_MODE}")
  endif()
  # Kept with the variable: this may be called where the list above was not made.
  get_property(modes CACHE STARK_MODE PROPERTY STRINGS)
  if(NOT mode IN_LIST modes)
    list(JOIN modes ", " known)
    message(FATAL_ERROR "${call}: MODE: got '${mode}', wanted one of ${known}")
  endif()
  foreach(number IN ITEMS ATTEMPTS SEED JOBS)
    if(DEFINED arg_${number} AND NOT arg_${number} MATCHES "^[0-9]+$")
      message(FATAL_ERROR "${call}: ${number}: got '${arg_${number}}', wanted a number")
    endif()
  endforeach()

  if(DEFINED arg_JOBS AND (arg_JOBS LESS 1 OR arg_JOBS GREATER 256))
    message(FATAL_ERROR "${call}: JOBS: got '${arg_JOBS}', wanted 1 to 256")
  endif()
  # The names that `stark-tool optimize --preset` knows, in its order.
  set(presets sampling reflexion search-agent ma-only stark stark+)
  if(arg_PRESET AND NOT arg_PRESET IN_LIST presets)
    list(JOIN presets ", " known)
    message(FATAL_ERROR "${call}: PRESET: got '${arg_PRESET}', wanted one of ${known}")
  endif()
  if(NOT arg_BUDGET)
    set(arg_BUDGET "${STARK_BUDGET}")
  endif()
  string(REPLACE "," ";" arg_BUDGET "${arg_BUDGET}")
  foreach(limit IN LISTS arg_BUDGET)
    if(NOT limit MATCHES "^([a-z]+:)?(tokens|usd|minutes)=[0-9.]+$")
      message(FATAL_ERROR "${call}: BUDGET: got '${limit}', wanted tokens=N, usd=X or minutes=M, or one of a role, such as code:usd=1")
    endif()
  endforeach()

  if(NOT "${STARK_TUNE_ATTEMPTS}" MATCHES "^[0-9]*$")
    message(FATAL_ERROR "${call}: STARK_TUNE_ATTEMPTS: got '${STARK_TUNE_ATTEMPTS}', wanted a number")
  endif()

  _stark_pair_sources(${target} "${call}" "${arg_SOURCES}" "${arg_WORKLOADS}" sources workloads)
  if(mode STREQUAL "OFF")
    return()
  endif()
  _stark_claim_names(${target} "${call}" calls)
  if(NOT CMAKE_CUDA_COMPILER_VERSION)
    message(FATAL_ERROR "${call}: the project has not enabled the language CUDA; add it to project() or call enable_language(CUDA)")
  endif()
  _stark_architectures(${target} "${call}" "${arg_ARCH}" architectures)
  if(NOT architectures)
    string(CONCAT why "CUDA_ARCHITECTURES of the target is 'native', and no GPU was found on this machine;"
      " ARCH, e.g. ARCH sm_90, says whose winners to take")
    if(mode STREQUAL "SEARCH" OR mode STREQUAL "REQUIRE")
      message(FATAL_ERROR "${call}: ${why}")
    endif()
    message(WARNING "STARK: ${call}: ${why}; building the sources as they are")
    return()
  endif()
  if(NOT arg_STORE)
    set(arg_STORE "${CMAKE_CURRENT_SOURCE_DIR}/stark-store")
  endif()
  cmake_path(ABSOLUTE_PATH arg_STORE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  foreach(what IN ITEMS PROVIDER EVALUATOR MODEL BASE_URL)
    if(NOT arg_${what})
      set(arg_${what} "${STARK_${what}}")
    endif()
  endforeach()
  if(NOT DEFINED arg_ATTEMPTS)
    set(arg_ATTEMPTS 30)
  endif()
  if(NOT DEFINED arg_SEED)
    set(arg_SEED 1)
  endif()
  # nvcc's own version is its toolkit's; Clang has another one.
  set(toolkit "${CMAKE_CUDA_COMPILER_VERSION}")
  if(CMAKE_CUDA_COMPILER_TOOLKIT_VERSION)
    set(toolkit "${CMAKE_CUDA_COMPILER_TOOLKIT_VERSION}")
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" toolkit "${toolkit}")

  # A winner that does not compile with the target's flags must not cost the
  # build: the launcher then compiles the source itself.
  get_target_property(launcher ${target} CUDA_COMPILER_LAUNCHER)
  if(NOT launcher)
    set(launcher "")
  endif()
  if(NOT "Stark::stark-cache" IN_LIST launcher AND NOT launcher MATCHES "stark-cache>")
    set_property(TARGET ${target} PROPERTY CUDA_COMPILER_LAUNCHER
      "$<TARGET_FILE:Stark::stark-cache>" compile -- ${launcher})
  endif()

  set_property(TARGET ${target} PROPERTY STARK_CALLS ${calls})
  set(number "")
  if(calls GREATER 1)
    set(number ${calls})
  endif()
  set(stamps "")
  set(tunings "")
  set(listed "")
  set(all_workloads "")
  _stark_target_flags(${target} _stark_of_target)
  foreach(source IN LISTS sources)
    set(workloads "${workloads_of_${source}}")
    list(APPEND all_workloads ${workloads})
    _stark_replace_source()
  endforeach()
  _stark_replace_in_target()

  # Makes the generated sources before the target is built, wherever it was
  # defined, and shows the user's sources to IDEs.
  set(step "${target}_stark${number}")
  add_custom_target(${step} DEPENDS ${stamps} SOURCES ${sources} ${all_workloads})
  add_dependencies(${target} ${step})
  _stark_add_verbs()
endfunction()

# The workloads beside a source: NAME.workload.json, then NAME.*.workload.json by
# name, but for those of another source.
function(_stark_workloads_beside source out)
  cmake_path(REMOVE_EXTENSION source LAST_ONLY OUTPUT_VARIABLE stem)
  string(REGEX REPLACE "([][?*])" "[\\1]" pattern "${stem}")
  file(GLOB more LIST_DIRECTORIES FALSE "${pattern}.*.workload.json")
  list(SORT more COMPARE NATURAL)
  set(found "")
  foreach(workload IN ITEMS "${stem}.workload.json" ${more})
    string(REGEX REPLACE "\\.workload\\.json$" "" other "${workload}")
    if(EXISTS "${workload}" AND (other STREQUAL stem OR NOT EXISTS "${other}.cu"))
      list(APPEND found "${workload}")
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# The CUDA sources, as absolute paths, and the workloads of each in
# ${out_workloads}_of_SOURCE.
function(_stark_pair_sources target call given given_workloads out_sources out_workloads)
  get_target_property(own ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(own_absolute "")
  foreach(source IN LISTS own)
    if(NOT source MATCHES "\\$<")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
    endif()
    list(APPEND own_absolute "${source}")
  endforeach()
  set(sources "")
  foreach(source IN LISTS given)
    if(source MATCHES "\\$<")
      message(FATAL_ERROR "${call}: SOURCES: got the generator expression '${source}', wanted a path")
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE absolute)
    if(NOT absolute IN_LIST own_absolute)
      message(FATAL_ERROR "${call}: SOURCES: '${source}' is no source of the target; it has '${own}'"
        " (a source inside a generator expression cannot be optimised)")
    endif()
    if(NOT absolute MATCHES "\\.cu$")
      message(FATAL_ERROR "${call}: SOURCES: got '${source}', wanted a .cu file; a C++ source, such as one of ATen calls,"
        " can be named .cu, which nvcc compiles as well")
    endif()
    list(APPEND sources "${absolute}")
  endforeach()
  set(all FALSE)
  if(NOT given)
    set(all TRUE)
    foreach(source IN LISTS own_absolute)
      if(source MATCHES "\\.cu$" AND NOT source MATCHES "\\$<")
        list(APPEND sources "${source}")
      endif()
    endforeach()
  endif()
  list(LENGTH sources count)
  list(LENGTH given_workloads workload_count)
  if(given_workloads AND (all OR NOT (count EQUAL 1 OR workload_count EQUAL count)))
    message(FATAL_ERROR "${call}: WORKLOADS: got ${workload_count} for ${count} SOURCES, wanted one for each, in their order, or"
      " those of one source")
  endif()
  set(kept "")
  foreach(index RANGE ${count})
    if(index EQUAL count)
      break()
    endif()
    list(GET sources ${index} source)
    if(count EQUAL 1 AND given_workloads)
      set(workloads "${given_workloads}")
    elseif(given_workloads)
      list(GET given_workloads ${index} workloads)
    else()
      _stark_workloads_beside("${source}" workloads)
    endif()
    if(NOT workloads AND all)
      continue()
    elseif(NOT workloads)
      cmake_path(REPLACE_EXTENSION source LAST_ONLY "workload.json" OUTPUT_VARIABLE workloads)
    endif()
    set(absolute "")
    foreach(workload IN LISTS workloads)
      cmake_path(ABSOLUTE_PATH workload BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      if(NOT EXISTS "${workload}")
        message(FATAL_ERROR "${call}: there is no workload '${workload}' for '${source}'; `stark-tool workload ${source} -o ${workload}` drafts one")
      endif()
      list(APPEND absolute "${workload}")
    endforeach()
    list(REMOVE_DUPLICATES absolute)
    list(APPEND kept "${source}")
    set(${out_workloads}_of_${source} "${absolute}" PARENT_SCOPE)
  endforeach()
  if(NOT kept)
    message(FATAL_ERROR "${call}: no .cu source of the target has a NAME.workload.json beside it")
  endif()
  set(${out_sources} "${kept}" PARENT_SCOPE)
endfunction()

# The old behaviour of CMP0116 until the next cmake_policy(POP), without the
# warning that it is old.
macro(_stark_depfile_as_it_is)
  if(CMAKE_VERSION VERSION_LESS 4.4)
    set(_stark_warned "${CMAKE_WARN_DEPRECATED}")
    set(CMAKE_WARN_DEPRECATED OFF)
    cmake_policy(SET CMP0116 OLD)
    set(CMAKE_WARN_DEPRECATED "${_stark_warned}")
  else()
    cmake_policy(SET CMP0218 NEW)
    cmake_diagnostic(PUSH)
    cmake_diagnostic(SET CMD_DEPRECATED IGNORE)
    cmake_policy(SET CMP0116 OLD)
    cmake_diagnostic(POP)
  endif()
endmacro()

# Reads the variables of stark_optimize_kernels(), a macro in all but name.
macro(_stark_replace_source)
  # Two targets may build one source with different flags.
  cmake_path(GET source FILENAME name)
  cmake_path(GET source PARENT_PATH home)
  # A name of its own: profilers take two files of one name for one.
  cmake_path(GET source EXTENSION LAST_ONLY extension)
  cmake_path(REMOVE_EXTENSION name LAST_ONLY OUTPUT_VARIABLE generated_name)
  string(APPEND generated_name ".stark${extension}")
  string(SHA256 place "${source}")
  string(SUBSTRING "${place}" 0 8 place)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/stark/${target}/${place}")
  # A generator with several configurations has a folder for each.
  _stark_configurations(_stark_configs)
  get_property(_stark_multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(_stark_all "${folder}/${generated_name}")
  if(_stark_multi)
    list(TRANSFORM _stark_configs REPLACE "^(.+)$" "${folder}/\\1/${generated_name}" OUTPUT_VARIABLE _stark_all)
    string(APPEND folder "/$<CONFIG>")
  endif()
  set(generated "${folder}/${generated_name}")
  _stark_flags(${target} "${source}" _stark_of_target lines)
  # Written once for each language of the project; the CUDA one is used.
  file(GENERATE OUTPUT "${folder}/flags.$<COMPILE_LANGUAGE>" CONTENT "${lines}" TARGET ${target})
  set(flags "${folder}/flags.CUDA")
  list(TRANSFORM architectures PREPEND "--arch=" OUTPUT_VARIABLE archs)
  list(TRANSFORM workloads PREPEND "--workload=" OUTPUT_VARIABLE workload_words)

  # Ninja reads the depfile as it is where what depends is called as in Ninja's
  # own file. Otherwise CMake starts itself for each source to rewrite the
  # depfile (the new behaviour of CMP0116), which takes twice as long as the step.
  set(_stark_depfile_target "")
  if(CMAKE_GENERATOR MATCHES "Ninja" AND CMAKE_VERSION VERSION_LESS 5)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE _stark_depfile_target)
    set(_stark_depfile_target "--depfile-target=${CMAKE_NINJA_OUTPUT_PATH_PREFIX}${_stark_depfile_target}/stamp")
  endif()
  set(command $<TARGET_FILE:Stark::stark-cache> lookup "${source}" ${workload_words} "--output=${generated}"
    "--depfile=${folder}/depends" ${_stark_depfile_target} "--stamp=${folder}/stamp" "--store=${arg_STORE}" ${archs}
    "--toolkit-version=${toolkit}" "--mode=${mode}" "--flags-file=${flags}")
  set(words $<TARGET_FILE:Stark::stark-tool> build)
  foreach(option IN ITEMS PROVIDER EVALUATOR)
    if(arg_${option})
      string(TOLOWER "${option}" name_of_option)
      list(APPEND words "--${name_of_option}=${arg_${option}}")
    endif()
  endforeach()
  list(APPEND words "--attempts=${arg_ATTEMPTS}" "--seed=${arg_SEED}" "--run-dir=${folder}/runs")
  foreach(option IN ITEMS MODEL BASE_URL PRESET JOBS)
    if(arg_${option})
      string(TOLOWER "${option}" name_of_option)
      string(REPLACE "_" "-" name_of_option "${name_of_option}")
      list(APPEND words "--${name_of_option}=${arg_${option}}")
    endif()
  endforeach()
  foreach(limit IN LISTS arg_BUDGET)
    list(APPEND words "--budget=${limit}")
  endforeach()
  if(arg_PROVIDER AND arg_EVALUATOR AND mode MATCHES "AUTO|SEARCH")
    foreach(word IN LISTS words)
      list(APPEND command "--search=${word}")
    endforeach()
  endif()
  # The stamp dates the step; the source is written only when it changes, so
  # that nothing is compiled again for nothing.
  cmake_policy(PUSH)
  if(_stark_depfile_target)
    _stark_depfile_as_it_is()
  endif()
  add_custom_command(
    OUTPUT "${folder}/stamp"
    BYPRODUCTS "${generated}"
    COMMAND ${command}
    DEPENDS "${source}" ${workloads} "${flags}" $<TARGET_FILE:Stark::stark-cache>
    DEPFILE "${folder}/depends"
    COMMENT "STARK: ${name}"
    VERBATIM)
  cmake_policy(POP)
  list(APPEND stamps "${folder}/stamp")
  _stark_list_source()

  # The winner takes the source's place with all that was set on the source,
  # and finds what the source includes in quotes.
  foreach(property IN ITEMS COMPILE_DEFINITIONS COMPILE_FLAGS COMPILE_OPTIONS INCLUDE_DIRECTORIES
      OBJECT_DEPENDS SKIP_PRECOMPILE_HEADERS)
    get_source_file_property(value "${source}" TARGET_DIRECTORY ${target} ${property})
    if(value)
      set_property(SOURCE ${_stark_all} TARGET_DIRECTORY ${target} PROPERTY ${property} "${value}")
    endif()
  endforeach()
  if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    # nvcc hands the words to a shell.
    set(quoted "${home}")
    if(NOT home MATCHES "^[A-Za-z0-9_/.+-]+$")
      set(quoted "\"${home}\"")
    endif()
    set(quoted "-Xcompiler=-iquote,${quoted}")
  else()
    set(quoted "-iquote${home}")
  endif()
  set_property(SOURCE ${_stark_all} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS "${quoted}")
  # Two of them in one unity source would say the same names twice.
  set_source_files_properties(${_stark_all} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CUDA GENERATED TRUE
    SKIP_UNITY_BUILD_INCLUSION TRUE)
  set(_stark_generated_of_${source} "${generated}")
endmacro()

# In place of the user's entries, so that the order of the objects stays. Reads
# the variables of stark_optimize_kernels() and _stark_replace_source().
macro(_stark_replace_in_target)
  get_target_property(_stark_old ${target} SOURCES)
  get_target_property(_stark_home ${target} SOURCE_DIR)
  set(_stark_new "")
  foreach(_stark_item IN LISTS _stark_old)
    set(_stark_absolute "${_stark_item}")
    if(NOT _stark_item MATCHES "\\$<")
      cmake_path(ABSOLUTE_PATH _stark_absolute BASE_DIRECTORY "${_stark_home}" NORMALIZE)
    endif()
    if(DEFINED _stark_generated_of_${_stark_absolute})
      list(APPEND _stark_new "${_stark_generated_of_${_stark_absolute}}")
    else()
      list(APPEND _stark_new "${_stark_item}")
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES "${_stark_new}")
endmacro()
