# Writes OUT, a header with the commit of SOURCE, if it says anything new. Run at each build:
#   cmake -DSOURCE=.. -DOUT=.. -P commit.cmake
# "-dirty": what is built, or what the experiments say, is not as in the commit.
set(commit unknown)
find_program(git git)
if(git)
  execute_process(COMMAND ${git} rev-parse --show-toplevel --short=12 HEAD
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET)
  get_filename_component(here ${SOURCE} REALPATH)
  # Not the commit of a repository in which these sources merely lie.
  if(NOT failed AND said MATCHES "^([^\n]*)\n([0-9a-f]+)\n$" AND CMAKE_MATCH_1 STREQUAL here)
    set(commit ${CMAKE_MATCH_2})
    execute_process(COMMAND ${git} --no-optional-locks status --porcelain --
        CMakeLists.txt CMakePresets.json include src experiments
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changed RESULT_VARIABLE failed ERROR_QUIET)
    if(failed OR NOT changed STREQUAL "")
      string(APPEND commit -dirty)
    endif()
  endif()
endif()
set(text "#define LG_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
