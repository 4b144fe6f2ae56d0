# Targets that stark_optimize_kernels() makes beside the build, built by name
# alone: <target>_stark_tune, _check and _report, and those of all targets.

include_guard(GLOBAL)

# Refuses names of targets that are somebody else's. ${out}: 1 in the first call
# for the target, then 2, 3, ...
function(_stark_claim_names target call out)
  get_target_property(calls ${target} STARK_CALLS)
  if(NOT calls)
    set(calls 0)
  endif()
  math(EXPR calls "${calls} + 1")
  if(calls GREATER 1)
    set(names ${target}_stark${calls} ${target}_stark${calls}_tune)
  else()
    set(names ${target}_stark ${target}_stark_tune ${target}_stark_check ${target}_stark_report)
  endif()
  foreach(name IN ITEMS stark_tune stark_check stark_report)
    set(ours FALSE)
    if(TARGET ${name})
      get_target_property(ours ${name} STARK_CALLS)
    endif()
    if(NOT ours)
      list(APPEND names ${name})
    endif()
  endforeach()
  foreach(name IN LISTS names)
    if(TARGET ${name})
      message(FATAL_ERROR "${call}: got a target '${name}' in the project, wanted that name for a target of this call; rename it")
    endif()
  endforeach()
  set(${out} ${calls} PARENT_SCOPE)
endfunction()

# Makes ${out} a string of JSON.
function(_stark_quote text out)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Targets that are built by name alone: tune, check and report, of this target
# and of all. Reads the variables of stark_optimize_kernels().
macro(_stark_add_verbs)
  # What check and report read: what the sources are built with.
  set(_stark_file "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/stark/${target}")
  get_property(_stark_multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(_stark_multi)
    string(APPEND _stark_file "/$<CONFIG>")
  endif()
  string(APPEND _stark_file "/kernels${number}.json")
  _stark_quote("${target}" _stark_target)
  _stark_quote("${toolkit}" _stark_toolkit)
  _stark_quote("${arg_STORE}" _stark_store)
  _stark_quote("${arg_EVALUATOR}" _stark_evaluator)
  list(TRANSFORM architectures REPLACE "^(.+)$" "\"\\1\"" OUTPUT_VARIABLE _stark_archs)
  list(JOIN _stark_archs ", " _stark_archs)
  file(GENERATE OUTPUT "${_stark_file}" CONTENT "{\"format\": 1, \"target\": ${_stark_target}, \"toolkit\": ${_stark_toolkit},
 \"store\": ${_stark_store}, \"evaluator\": ${_stark_evaluator}, \"archs\": [${_stark_archs}],
 \"sources\": [${listed}]}
")

  add_custom_target(${target}_stark${number}_tune DEPENDS ${tunings})
  if(number)
    add_dependencies(${target}_stark_tune ${target}_stark${number}_tune)
  endif()
  foreach(_stark_of IN ITEMS ${target}_stark stark)
    if(NOT TARGET ${_stark_of}_tune)
      add_custom_target(${_stark_of}_tune)
    endif()
    if(NOT TARGET ${_stark_of}_check)
      # The files are those of all calls, whenever they are made.
      set(_stark_files "$<GENEX_EVAL:$<TARGET_PROPERTY:${_stark_of}_check,STARK_FILES>>")
      add_custom_target(${_stark_of}_check
        COMMAND $<TARGET_FILE:Stark::stark-tool> check "${_stark_files}" -o "${CMAKE_BINARY_DIR}/stark-check/${_stark_of}.json"
        COMMAND_EXPAND_LISTS USES_TERMINAL VERBATIM)
      add_custom_target(${_stark_of}_report
        COMMAND $<TARGET_FILE:Stark::stark-tool> report "${_stark_files}" -o "${CMAKE_BINARY_DIR}/stark-report/${_stark_of}.html"
        COMMAND_EXPAND_LISTS VERBATIM)
    endif()
    set_property(TARGET ${_stark_of}_check APPEND PROPERTY STARK_FILES "${_stark_file}")
  endforeach()
  add_dependencies(stark_tune ${target}_stark_tune)
  set_property(TARGET stark_tune stark_check stark_report PROPERTY STARK_CALLS 1)
endmacro()

# The job that tunes one source, and what is said of the source in kernels.json.
# Reads the variables of stark_optimize_kernels() and _stark_replace_source().
macro(_stark_list_source)
  # A job of its own, too, of a name that is never made: it runs whenever it is
  # asked for.
  set(more "${arg_ATTEMPTS}")
  if(NOT "${STARK_TUNE_ATTEMPTS}" STREQUAL "")
    set(more "${STARK_TUNE_ATTEMPTS}")
  endif()
  list(GET archs 0 arch)
  set(_stark_nth "")
  foreach(_stark_workload IN LISTS workloads)
    add_custom_command(
      OUTPUT "${folder}/tune${_stark_nth}"
      COMMAND ${words} "${source}" "--tune=${more}" "--workload=${_stark_workload}" "--store=${arg_STORE}" ${arch}
        "--toolkit-version=${toolkit}" "--flags-file=${flags}"
      DEPENDS "${source}" "${_stark_workload}" "${flags}"
      COMMENT "STARK: tuning ${name}"
      VERBATIM)
    list(APPEND tunings "${folder}/tune${_stark_nth}")
    string(APPEND _stark_nth "+")

    set(_stark_item "")
    foreach(part IN ITEMS "source:${source}" "workload:${_stark_workload}" "flags:${flags}" "runs:${folder}/runs")
      string(REGEX MATCH "^([a-z]+):(.*)$" part "${part}")
      _stark_quote("${CMAKE_MATCH_2}" value)
      list(APPEND _stark_item "\"${CMAKE_MATCH_1}\": ${value}")
    endforeach()
    list(JOIN _stark_item ", " _stark_item)
    if(listed)
      string(APPEND listed ",\n  ")
    endif()
    string(APPEND listed "{${_stark_item}}")
  endforeach()
endmacro()
