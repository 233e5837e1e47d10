# The list of ABI tests that are compiled by clang: most programs are those that gcc compiles too (tests.cmake).
set(abi_clang_both
  cancel_depend cancel_inner_group cancel_reductions
  allocator atomic barrier barrier_tasks cancel cancel_alone cancel_combined cancel_off critical depend_exclusive depend_many detach
  detach_at_end detach_discarded doacross dynamic flush fp_modes late_environment lock lock_old loop_collapse
  loop_dynamic loop_nowait loop_ranges loop_runtime loop_static master ordered orphaned parallel_basic parallel_data
  parallel_nested parallel_changing parallel_wide proc_bind reduction reduction_parts routines_team routines_time sections single task_basic task_depend
  task_at_once task_final task_many task_order task_outlives_creator task_priority task_recursion task_reduction task_regions
  task_thread_num taskgroup taskloop taskloop_ranges teams_limit threadprivate threadprivate_nested)
# What stock libomp 19 does otherwise: defaults and limits of its own (allocator, cancel, lock, routines_team), aborts
# where dynamic loops are cancelled, hangs in cancelled regions with task reductions (cancel_reductions),
# no guarantee for the order of priorities, and detach outside of regions
# waits for nobody; a region within a league has as many threads as CPUs; who opens a region has afterwards the modes of
# floating-point arithmetic of before, whatever it has set within; and names with _ALL are not read.
set(abi_clang_no_stock cancel_reductions
  allocator cancel cancel_alone cancel_combined detach detach_discarded fp_modes late_environment lock loop_collapse parallel_changing routines_team task_priority)
foreach(name ${abi_clang_both})
  set(stock)
  if(name IN_LIST abi_clang_no_stock)
    set(stock NO_STOCK)
  endif()
  weft_abi_clang_test(${name} ${name}.c ${stock})
endforeach()
# Not here: loop_clauses (clang 19 gives a lastprivate variable of a scan another value, on libomp too), scope (which it
# cannot compile), routines_5, target and target_offload (libomptarget's routines), teams (gcc's clauses), entry_points
# (GCC's names), depend_kinds (which calls GOMP_task).
foreach(name exceptions classes task_classes threadprivate_class)
  weft_abi_clang_test(${name} ${name}.cpp)
endforeach()

weft_abi_clang_test(pause_destroys pause_destroys.cpp NO_STOCK) # libomp crashes where destructors ask it something
weft_abi_clang_test(task_chain task_chain.c PAIRS 2_2 8_2 NO_STOCK) # of a length that libomp has no stack for

# What only LLVM's compilers do.
weft_abi_clang_test(arguments llvm_arguments.c)
weft_abi_clang_test(teams llvm_teams.c)
weft_abi_clang_test(collapse llvm_collapse.c)
weft_abi_clang_test(loop_simd llvm_loop_simd.c)
weft_abi_clang_test(task_graph llvm_task_graph.c)
weft_abi_clang_test(long_depend llvm_long_depend.c)
weft_abi_clang_test(set_defaults llvm_set_defaults.c NO_STOCK) # libomp leaves some ICVs of the calling thread as they are
weft_abi_clang_test(num_threads_list llvm_num_threads_list.c)
weft_abi_clang_test(entries llvm_entries.c NO_STOCK) # libomp's loops overflow at the ends of their types
# Threadprivate variables that are no thread-local ones, but the runtime's.
weft_abi_clang_test(threadprivate_no_tls threadprivate.c OPTIONS -fnoopenmp-use-tls)
weft_abi_clang_test(threadprivate_class_no_tls threadprivate_class.cpp OPTIONS -fnoopenmp-use-tls)
if(WEFT_SANITIZE)
  return()
endif()

# An older clang, with the newer one's omp.h.
if(abi_has_clang AND WEFT_OLD_CLANG)
  file(CREATE_LINK ${WEFT_STOCK_LIBOMP}/clang/19/include/omp.h ${abi_clang_folder}/include/omp.h SYMBOLIC)
  foreach(name parallel_nested loop_dynamic reduction task_depend task_reduction taskloop cancel doacross)
    abi_clang_program(old_${name} ${WEFT_OLD_CLANG} ${name}.c -O2 -I${abi_clang_folder}/include)
    foreach(pair 2_2 8_8)
      string(REPLACE "_" ";" numbers ${pair})
      list(GET numbers 0 threads)
      list(GET numbers 1 workers)
      abi_register(abi.old_clang.${name}.t${threads}w${workers} 300 COMMAND ${abi_clang_folder}/old_${name}
        ENV OMP_NUM_THREADS=${threads} WEFT_NUM_WORKERS=${workers})
    endforeach()
  endforeach()
endif()

if(abi_has_clang)
  abi_clang_program(llvm_env_probe ${WEFT_CLANG} llvm_env_probe.c -O2)
  abi_register(abi.llvm_env 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/llvm_env_test.py
    ${abi_clang_folder}/llvm_env_probe)

  abi_clang_program(place_probe ${WEFT_CLANG} place_probe.c -O2)
  abi_register(abi.kmp_affinity_as_libomp 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/kmp_affinity_test.py
    ${abi_clang_folder}/place_probe ${WEFT_STOCK_LIBOMP})

  abi_clang_program(place_unset ${WEFT_CLANG} place_unset.c -O2)
  foreach(list ${abi_unset_lists})
    foreach(workers 2 8)
      abi_register(abi.clang.place_unset.${list}.w${workers} 300 COMMAND ${abi_clang_folder}/place_unset
        ENV OMP_PROC_BIND=${list} WEFT_NUM_WORKERS=${workers} "OMP_PLACES={0},{1}")
    endforeach()
  endforeach()

  abi_clang_program(llvm_affinity_probe ${WEFT_CLANG} llvm_affinity_probe.c -O2)
  abi_register(abi.llvm_affinity 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/llvm_affinity_test.py
    ${abi_clang_folder}/llvm_affinity_probe ${WEFT_STOCK_LIBOMP})

  abi_register(abi.llvm_symbols 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/llvm_symbols.py
    ${WEFT_STOCK_LIBOMP}/libomp.so.5 ${WEFT_DROPIN_DIR}/libgomp.so.1)

  # One process, both compilers: a program of gcc's, a library of each.
  abi_clang_program(libllvmhalf.so ${WEFT_CLANG} mixed_half.c -O2 -shared -fPIC -DHALF=llvm_half)
  add_library(abi_gcchalf SHARED mixed_half.c)
  target_compile_options(abi_gcchalf PRIVATE -fopenmp -O2)
  target_compile_definitions(abi_gcchalf PRIVATE HALF=gcc_half)
  target_link_options(abi_gcchalf PRIVATE -fopenmp)
  abi_program(abi_mixed -O2 mixed.c)
  target_link_libraries(abi_mixed PRIVATE abi_gcchalf ${abi_clang_folder}/libllvmhalf.so)
  target_link_options(abi_mixed PRIVATE -Wl,-rpath,${abi_clang_folder})
  add_dependencies(abi_mixed abi_clang_libllvmhalf.so)
  foreach(workers 1 2 8)
    abi_register(abi.mixed.w${workers} 300 COMMAND abi_mixed ENV WEFT_NUM_WORKERS=${workers})
  endforeach()
  # The same as `weft run` starts it, with a DT_RPATH that leads to the stock libomp: it is loaded, and idle.
  abi_program(abi_mixed_rpath -O2 mixed.c)
  target_link_libraries(abi_mixed_rpath PRIVATE abi_gcchalf ${abi_clang_folder}/libllvmhalf.so)
  target_link_options(abi_mixed_rpath PRIVATE -Wl,--disable-new-dtags,-rpath,${abi_clang_folder},-rpath,${WEFT_STOCK_LIBOMP})
  add_dependencies(abi_mixed_rpath abi_clang_libllvmhalf.so)
  abi_register(abi.mixed.rpath 300 COMMAND abi_mixed_rpath
    ENV LD_PRELOAD=${WEFT_DROPIN_DIR}/libgomp.so.1 MIXED_IDLE=1 WEFT_NUM_WORKERS=2)
endif()

# Tools: one that checks what it is told, in programs of both compilers; and LLVM's own for ThreadSanitizer. The header
# of the interface comes with clang.
if(abi_has_clang)
  add_library(abi_ompt_witness SHARED ompt_witness.c)
  target_compile_options(abi_ompt_witness PRIVATE -O1 -g -Wall -Wextra -idirafter ${WEFT_STOCK_LIBOMP}/clang/19/include)
  set_target_properties(abi_ompt_witness PROPERTIES C_STANDARD 11)
  abi_program(abi_ompt_events -O2 ompt_events.c)
  abi_clang_program(ompt_events ${WEFT_CLANG} ompt_events.c -O2)
  foreach(pair gcc=$<TARGET_FILE:abi_ompt_events> clang=${abi_clang_folder}/ompt_events)
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 compiler)
    list(GET pair 1 program)
    foreach(case events settings)
      abi_register(abi.ompt.${case}.${compiler} 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/ompt_test.py ${case}
        ${program} $<TARGET_FILE:abi_ompt_witness>)
    endforeach()
  endforeach()
  abi_program(abi_ompt_teams -O2 ompt_teams.c)
  abi_clang_program(ompt_teams ${WEFT_CLANG} ompt_teams.c -O2)
  abi_register(abi.ompt.teams 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/ompt_test.py teams $<TARGET_FILE:abi_ompt_teams>
    ${abi_clang_folder}/ompt_teams $<TARGET_FILE:abi_ompt_witness>)
  abi_program(abi_ompt_fork -O2 ompt_fork.c)
  abi_register(abi.ompt.fork 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/ompt_test.py fork $<TARGET_FILE:abi_ompt_fork>
    $<TARGET_FILE:abi_ompt_witness>)
  # Programs that are here anyway, watched.
  foreach(name atomic barrier barrier_tasks critical depend_kinds depend_many detach detach_discarded doacross lock loop_dynamic loop_static ordered parallel_nested
          parallel_changing parallel_wide pause reduction reduction_parts sections single teams target constructs_f tasks_f tasks_5_f task_basic task_depend task_final task_many task_order task_recursion
          task_reduction taskgroup taskloop
          threadprivate_common_f threadprivate_teams)
    foreach(pair 8_2 8_8)
      string(REPLACE "_" ";" numbers ${pair})
      list(GET numbers 0 threads)
      list(GET numbers 1 workers)
      set(environment OMP_NUM_THREADS=${threads} WEFT_NUM_WORKERS=${workers}
        OMP_TOOL_LIBRARIES=$<TARGET_FILE:abi_ompt_witness>)
      abi_register(abi.ompt.watched.${name}.t${threads}w${workers} 300 COMMAND abi_${name}_O2 ENV ${environment})
      if(name IN_LIST abi_clang_both)
        abi_register(abi.ompt.watched.clang.${name}.t${threads}w${workers} 300
          COMMAND ${abi_clang_folder}/${name}_O2 ENV ${environment})
      endif()
    endforeach()
  endforeach()
  # A tool that does not want to watch after all; the first thing that the program does is to open a region.
  foreach(name loop_dynamic master task_basic)
    set(environment OMP_NUM_THREADS=8 OMP_TOOL_LIBRARIES=$<TARGET_FILE:abi_ompt_witness> WITNESS_REFUSES=1)
    abi_register(abi.ompt.refused.${name} 300 COMMAND abi_${name}_O2 ENV ${environment})
    abi_register(abi.ompt.refused.clang.${name} 300 COMMAND ${abi_clang_folder}/${name}_O2 ENV ${environment})
  endforeach()
  foreach(name collapse num_threads_list)
    abi_register(abi.ompt.watched.${name} 300 COMMAND ${abi_clang_folder}/${name}_O2
      ENV OMP_NUM_THREADS=8 OMP_TOOL_LIBRARIES=$<TARGET_FILE:abi_ompt_witness>)
  endforeach()
  # Events that must have been told by the end.
  set(environment OMP_NUM_THREADS=8 OMP_TOOL_LIBRARIES=$<TARGET_FILE:abi_ompt_witness>)
  abi_register(abi.ompt.wanted.doacross 300 COMMAND abi_doacross_O2 ENV ${environment} WITNESS_WANTS=doacross)
  abi_register(abi.ompt.wanted.clang.doacross 300 COMMAND ${abi_clang_folder}/doacross_O2
    ENV ${environment} WITNESS_WANTS=doacross)
  abi_register(abi.ompt.wanted.masked 300 COMMAND abi_newer_entry_points_O2 ENV ${environment} WITNESS_WANTS=masked)
  # Programs whose first construct finds out that the tool is not there.
  foreach(name ordered task_basic)
    set(no_tool OMP_NUM_THREADS=8 OMP_TOOL_LIBRARIES=/no/such/tool.so)
    abi_register(abi.ompt.no_tool.${name} 300 COMMAND abi_${name}_O2 ENV ${no_tool})
    abi_register(abi.ompt.no_tool.clang.${name} 300 COMMAND ${abi_clang_folder}/${name}_O2 ENV ${no_tool})
  endforeach()
  foreach(name parallel_nested task_basic)
    abi_register(abi.ompt.watched.${name}.places 300 COMMAND abi_${name}_O2
      ENV OMP_NUM_THREADS=8 OMP_PLACES=threads OMP_TOOL_LIBRARIES=$<TARGET_FILE:abi_ompt_witness>)
  endforeach()
  if(EXISTS "${WEFT_STOCK_LIBOMP}/libarcher.so" AND NOT DEFINED WEFT_HAVE_CLANG_TSAN)
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/probe.c" "int main(void) { return 0; }\n")
    execute_process(COMMAND ${WEFT_CLANG} -fsanitize=thread probe.c -o probe
                    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(WEFT_HAVE_CLANG_TSAN ON CACHE INTERNAL "clang links with ThreadSanitizer")
    else()
      message(STATUS "abi: without the test of Archer, as clang has no ThreadSanitizer (Debian: libclang-rt-19-dev)")
    endif()
  endif()
  if(WEFT_HAVE_CLANG_TSAN)
    abi_clang_program(ompt_race ${WEFT_CLANG} ompt_race.c -O1 -g -fsanitize=thread -DRACE)
    abi_clang_program(ompt_clean ${WEFT_CLANG} ompt_race.c -O1 -g -fsanitize=thread)
    abi_register(abi.ompt.archer 300 COMMAND ${Python3_EXECUTABLE} ${abi_root}/ompt_test.py archer
      ${abi_clang_folder}/ompt_race ${abi_clang_folder}/ompt_clean ${WEFT_STOCK_LIBOMP}/libarcher.so)
  endif()
endif()
