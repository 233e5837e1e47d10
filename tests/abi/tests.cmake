# The list of ABI tests.
weft_abi_test(parallel_basic C parallel_basic.c)
weft_abi_test(parallel_data C parallel_data.c)
weft_abi_test(parallel_nested C parallel_nested.c)
weft_abi_test(nested_identity C nested_identity.c)
weft_abi_test(trampoline C trampoline.c)
weft_abi_test(loop_static C loop_static.c)
weft_abi_test(loop_dynamic C loop_dynamic.c)
weft_abi_test(single C single.c)
weft_abi_test(barrier C barrier.c)
weft_abi_test(barrier_tasks C barrier_tasks.c)
weft_abi_test(critical C critical.c)
weft_abi_test(master C master.c)
weft_abi_test(task_basic C task_basic.c)
weft_abi_test(routines_team C routines_team.c)
weft_abi_test(loop_runtime C loop_runtime.c)
weft_abi_test(loop_ranges C loop_ranges.c)
weft_abi_test(loop_collapse C loop_collapse.c)
weft_abi_test(loop_nowait C loop_nowait.c)
weft_abi_test(loop_clauses C loop_clauses.c)
weft_abi_test(loop_huge_chunk C loop_huge_chunk.c NO_STOCK) # libgomp never ends such a doacross loop
weft_abi_test(ordered C ordered.c)
weft_abi_test(sections C sections.c)
weft_abi_test(reduction C reduction.c)
weft_abi_test(reduction_parts C reduction_parts.c)
weft_abi_test(lock C lock.c)
weft_abi_test(task_final C task_final.c)
weft_abi_test(task_depend C task_depend.c)
weft_abi_test(task_recursion C task_recursion.c)
weft_abi_test(task_at_once C task_at_once.c)
weft_abi_test(task_many C task_many.c)
weft_abi_test(task_unbalanced C task_unbalanced.c NO_O0 TIMEOUT 120)
weft_abi_test(task_thread_num C task_thread_num.c)
weft_abi_test(task_regions C task_regions.c)
weft_abi_test(taskgroup C taskgroup.c)
weft_abi_test(taskloop C taskloop.c)
weft_abi_test(threadprivate C threadprivate.c)
weft_abi_test(threadprivate_nested C threadprivate_nested.c)
weft_abi_test(threadprivate_teams C threadprivate_teams.c)
weft_abi_test(atomic C atomic.c OPTIONS -Wno-unused-but-set-variable)
weft_abi_test(flush C flush.c)
weft_abi_test(fp_modes C fp_modes.c NO_STOCK) # libgomp's threads begin with those of whoever had them made
weft_abi_test(proc_bind C proc_bind.c)
weft_abi_test(late_environment C late_environment.c NO_STOCK) # libgomp reads it when it is loaded
weft_abi_test(routines_time C routines_time.c)
weft_abi_test(dynamic C dynamic.c)
weft_abi_test(orphaned C orphaned.c)
weft_abi_test(entry_points C entry_points.c)
weft_abi_test(llvm_versions C llvm_versions.c NO_STOCK NO_O0 PAIRS 2_2 8_8)

weft_abi_test(exceptions CXX exceptions.cpp)
weft_abi_test(classes CXX classes.cpp)
weft_abi_test(threadprivate_class CXX threadprivate_class.cpp)

weft_abi_test(constructs_f Fortran constructs.F90)
weft_abi_test(tasks_f Fortran tasks.F90)
weft_abi_test(threadprivate_common_f Fortran threadprivate_common.F90)
weft_abi_test(big_arrays_f Fortran big_arrays.F90 NO_O0)
weft_abi_test(routines_f Fortran routines.F90 PAIRS 2_2 8_8)
weft_abi_test(routines_f_integer8 Fortran routines.F90 PAIRS 2_2 8_8 OPTIONS
  $<$<COMPILE_LANGUAGE:Fortran>:-fdefault-integer-8>)
weft_abi_test(task_outlives_creator C task_outlives_creator.c)
weft_abi_test(cancel_off C cancel_off.c)
weft_abi_test(scope C scope.c)
weft_abi_test(detach C detach.c)
weft_abi_test(detach_at_end C detach_at_end.c)
weft_abi_test(detach_discarded C detach_discarded.c NO_STOCK) # libgomp 12 does not know the events of discarded tasks
weft_abi_test(task_reduction C task_reduction.c)
weft_abi_test(cancel C cancel.c)
weft_abi_test(cancel_alone C cancel_alone.c)
weft_abi_test(cancel_copies C cancel_copies.c NO_STOCK) # libgomp waits for members that have left
weft_abi_test(cancel_conditional C cancel_conditional.c)
weft_abi_test(cancel_depend C cancel_depend.c)
weft_abi_test(cancel_inner_group C cancel_inner_group.c)
weft_abi_test(cancel_reductions C cancel_reductions.c NO_O0 PAIRS 1_1 2_2 8_2 8_8 STOCK 2)
weft_abi_test(cancel_reductions_orphaned C cancel_reductions_orphaned.c PAIRS 1_1 2_2 8_2 8_8 NO_STOCK) # libgomp hangs
weft_abi_test(cancel_combined C cancel_combined.c OPTIONS -w) # gcc warns of every cancel within a combined construct
weft_abi_test(doacross C doacross.c STOCK 1 2) # libgomp's members spin while they wait: minutes with more than there are CPUs
weft_abi_test(depend_kinds C depend_kinds.c)
weft_abi_test(depend_exclusive C depend_exclusive.c)
weft_abi_test(depend_many C depend_many.c)
weft_abi_test(taskloop_ranges C taskloop_ranges.c)
weft_abi_test(taskloop_others C taskloop_others.c NO_STOCK) # libgomp leaves all to one now and then
weft_abi_test(task_order C task_order.c)
weft_abi_test(task_priority C task_priority.c)
weft_abi_test(task_classes CXX task_classes.cpp)
weft_abi_test(tasks_5_f Fortran tasks_5.F90)
weft_abi_test(newer_entry_points C newer_entry_points.c PAIRS 2_2 8_8)
weft_abi_test(task_chain C task_chain.c NO_O0 PAIRS 1_1 2_2 8_2)
weft_abi_test(lock_old C lock_old.c PAIRS 2_2 8_8)
weft_abi_test(parallel_changing C parallel_changing.c NO_O0)
weft_abi_test(parallel_wide C parallel_wide.c NO_O0)
weft_abi_test(pause C pause.c PAIRS 1_1 2_2 8_8 64_64 STOCK 2)
weft_abi_test(pause_destroys CXX pause_destroys.cpp PAIRS 1_1 2_2 8_2 8_8 64_8 64_64)
weft_abi_test(routines_5 C routines_5.c PAIRS 2_2 8_8)
weft_abi_test(teams C teams.c)
weft_abi_test(teams_limit C teams_limit.c)
weft_abi_test(target C target.c)
weft_abi_test(allocator C allocator.c PAIRS 1_1 2_2 8_8 64_8)
weft_abi_test(target_teams_f Fortran target_teams.F90 PAIRS 1_1 2_2 8_8 64_8)
weft_abi_test(target_teams_f_integer8 Fortran target_teams.F90 PAIRS 2_2 8_8 NO_O0 OPTIONS
  $<$<COMPILE_LANGUAGE:Fortran>:-fdefault-integer-8>)
weft_abi_test(target_offload C target_offload.c PAIRS 2_2 NO_O0)
weft_abi_test(routines_new C routines_new.c PAIRS 2_2 8_8)
weft_abi_test(sigwait C sigwait.c PAIRS 8_1 8_2 8_8 STOCK 8 NO_O0)
weft_abi_test(cancelled_thread C cancelled_thread.c PAIRS 8_1 8_2 8_8 STOCK 8 NO_O0)
if(WEFT_SANITIZE)
  return() # what follows is about settings, places and names, which the sanitizers have nothing to say to
endif()

abi_register(abi.pause_destroys.with_lock 300 COMMAND abi_pause_destroys_O2 with_lock ENV OMP_NUM_THREADS=4)

# Environment variables. env_test.py knows the cases.
abi_program(abi_icv_probe -O2 icv_probe.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS env_test.py)
execute_process(COMMAND ${Python3_EXECUTABLE} ${abi_root}/env_test.py --list
  OUTPUT_VARIABLE abi_env_cases COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" abi_env_cases "${abi_env_cases}")
foreach(line ${abi_env_cases})
  string(REPLACE " " ";" words ${line})
  list(GET words 0 case)
  list(GET words 1 where)
  set(command ${Python3_EXECUTABLE} ${abi_root}/env_test.py --probe $<TARGET_FILE:abi_icv_probe> ${case})
  abi_register(abi.env.${case} 300 COMMAND ${command})
  if(where STREQUAL stock)
    abi_register_stock(stock.env.${case} 300 COMMAND ${command})
  endif()
endforeach()

# Places. places_test.py knows the cases.
abi_program(abi_place_probe -O2 place_probe.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS places_test.py)
execute_process(COMMAND ${Python3_EXECUTABLE} ${abi_root}/places_test.py --list
  OUTPUT_VARIABLE abi_place_cases COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" abi_place_cases "${abi_place_cases}")
foreach(case ${abi_place_cases})
  abi_register(abi.places.${case} 300 COMMAND
    ${Python3_EXECUTABLE} ${abi_root}/places_test.py --probe $<TARGET_FILE:abi_place_probe> ${case})
endforeach()

abi_register(abi.kmp_affinity 300 COMMAND
  ${Python3_EXECUTABLE} ${abi_root}/kmp_affinity_test.py $<TARGET_FILE:abi_place_probe>)

abi_program(abi_place_bound -O2 place_bound.c)
foreach(policy true close spread)
  set(environment "OMP_PLACES={0},{1}" OMP_PROC_BIND=${policy} WEFT_NUM_WORKERS=2)
  abi_register(abi.place_bound.${policy} 300 COMMAND abi_place_bound ENV ${environment})
  abi_register_stock(stock.place_bound.${policy} 300 COMMAND abi_place_bound ENV ${environment})
endforeach()

abi_program(abi_place_target -O2 place_target.c)
set(abi_target_places "OMP_PLACES={0},{1},{0:2},{1},{0},{1},{0},{0:2}")
foreach(workers 1 2 8 64)
  abi_register(abi.place_target.w${workers} 300 COMMAND abi_place_target
    ENV ${abi_target_places} WEFT_NUM_WORKERS=${workers})
endforeach()
abi_register_stock(stock.place_target 300 COMMAND abi_place_target ENV ${abi_target_places})

# Not on the stock runtimes: both leave some threads of regions within regions bound to another place than they say.
abi_program(abi_place_kept -O2 place_kept.c)
foreach(pair ${abi_pairs})
  string(REPLACE "_" ";" numbers ${pair})
  list(GET numbers 0 threads)
  list(GET numbers 1 workers)
  abi_register(abi.place_kept.t${threads}w${workers} 300 COMMAND abi_place_kept
    ENV OMP_NUM_THREADS=${threads} WEFT_NUM_WORKERS=${workers} "OMP_PLACES={0},{1}")
endforeach()

abi_program(abi_asks_for_cpus -O2 asks_for_cpus.c)
target_link_options(abi_asks_for_cpus PRIVATE -rdynamic)
abi_register(abi.asks_for_cpus 300 COMMAND abi_asks_for_cpus)

# While a program runs, its CPUs become fewer and more.
abi_program(abi_follows_cpus -O2 follows_cpus.c)
foreach(what mask widened own fork quota given)
  set(env)
  if(what STREQUAL given)
    set(env ENV WEFT_NUM_WORKERS=3)
  endif()
  abi_register(abi.follows_cpus.${what} 300 COMMAND abi_follows_cpus ${what} ${env})
  set_tests_properties(abi.follows_cpus.${what} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

abi_program(abi_place_moves -O2 place_moves.c)
target_link_options(abi_place_moves PRIVATE -rdynamic)
foreach(policy close spread)
  abi_register(abi.place_moves.${policy} 300 COMMAND abi_place_moves
    ENV OMP_PROC_BIND=${policy},${policy} WEFT_NUM_WORKERS=2 "OMP_PLACES={0},{1}")
  set_tests_properties(abi.place_moves.${policy} PROPERTIES RUN_SERIAL ON)
endforeach()

# Levels that are not bound: no stock runtime has them.
set(abi_unset_lists spread spread,close spread,unset unset,spread unset)
abi_program(abi_place_unset -O2 place_unset.c)
foreach(list ${abi_unset_lists})
  foreach(workers 1 2 8 64)
    abi_register(abi.place_unset.${list}.w${workers} 300 COMMAND abi_place_unset
      ENV OMP_PROC_BIND=${list} WEFT_NUM_WORKERS=${workers} "OMP_PLACES={0},{1}")
  endforeach()
endforeach()

# Regions with each of their optimisations switched off, and with all.
abi_program(abi_experiment_probe -O2 experiment_probe.c)
abi_register(abi.experiment 300 COMMAND
  ${Python3_EXECUTABLE} ${abi_root}/experiment_test.py $<TARGET_FILE:abi_experiment_probe>)
abi_program(abi_trampoline_late -O2 trampoline_late.c)
add_library(abi_trampoline_library MODULE ${abi_root}/trampoline_library.c)
target_link_options(abi_trampoline_library PRIVATE -Wl,--no-warn-execstack)
foreach(workers 1 2 8)
  abi_register(abi.trampoline_late.w${workers} 300 COMMAND abi_trampoline_late $<TARGET_FILE:abi_trampoline_library>
    ENV OMP_NUM_THREADS=8 WEFT_NUM_WORKERS=${workers})
  set_tests_properties(abi.trampoline_late.w${workers} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
abi_program(abi_closes_stderr -O2 closes_stderr.c)
abi_register(abi.processes 300 COMMAND
  ${Python3_EXECUTABLE} ${abi_root}/processes_test.py
  $<TARGET_FILE:abi_experiment_probe> $<TARGET_FILE:abi_closes_stderr>)
abi_program(abi_without_proc -O2 without_proc.c)
foreach(what unmounted namespace descriptors)
  foreach(workers 1 2 8)
    abi_register(abi.without_proc.${what}.w${workers} 300 COMMAND abi_without_proc ${what} ENV WEFT_NUM_WORKERS=${workers})
    set_tests_properties(abi.without_proc.${what}.w${workers} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endforeach()
set(abi_switches kept-teams own-lists borrowed-stacks range runs master-helps place-pools)
list(JOIN abi_switches "," abi_all_switches)
foreach(without ${abi_switches} ${abi_all_switches})
  set(label ${without})
  if(without STREQUAL abi_all_switches)
    set(label all)
  endif()
  foreach(workers 1 2 8 64)
    set(environment WEFT_EXPERIMENT=${without} OMP_NUM_THREADS=8 WEFT_NUM_WORKERS=${workers})
    foreach(name parallel_nested task_regions)
      abi_register(abi.${name}.without.${label}.w${workers} 300 COMMAND abi_${name}_O2 ENV ${environment})
    endforeach()
    abi_register(abi.place_kept.without.${label}.w${workers} 300 COMMAND abi_place_kept
      ENV ${environment} "OMP_PLACES={0},{1}")
    abi_register(abi.place_unset.without.${label}.w${workers} 300 COMMAND abi_place_unset
      ENV ${environment} OMP_PROC_BIND=unset,spread "OMP_PLACES={0},{1}")
  endforeach()
endforeach()

# What the shared object exports and needs.
abi_register(abi.symbols 300 COMMAND
  ${Python3_EXECUTABLE} ${abi_root}/symbols.py ${WEFT_STOCK_LIBGOMP} ${WEFT_DROPIN_DIR}/libgomp.so.1)
