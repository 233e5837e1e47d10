# The list of ABI tests.
weft_abi_test(parallel_basic C parallel_basic.c)
weft_abi_test(parallel_data C parallel_data.c)
weft_abi_test(parallel_nested C parallel_nested.c)
weft_abi_test(loop_static C loop_static.c)
weft_abi_test(loop_dynamic C loop_dynamic.c)
weft_abi_test(single C single.c)
weft_abi_test(barrier C barrier.c)
weft_abi_test(critical C critical.c)
weft_abi_test(master C master.c)
weft_abi_test(task_basic C task_basic.c)
weft_abi_test(routines_team C routines_team.c)
weft_abi_test(loop_runtime C loop_runtime.c)
weft_abi_test(loop_ranges C loop_ranges.c)
weft_abi_test(loop_collapse C loop_collapse.c)
weft_abi_test(loop_nowait C loop_nowait.c)
weft_abi_test(loop_clauses C loop_clauses.c)
weft_abi_test(ordered C ordered.c)
weft_abi_test(sections C sections.c)
weft_abi_test(reduction C reduction.c)
weft_abi_test(lock C lock.c)
weft_abi_test(task_final C task_final.c)
weft_abi_test(task_depend C task_depend.c)
weft_abi_test(task_recursion C task_recursion.c)
weft_abi_test(task_many C task_many.c)
weft_abi_test(task_thread_num C task_thread_num.c)
weft_abi_test(task_regions C task_regions.c)
weft_abi_test(taskgroup C taskgroup.c)
weft_abi_test(taskloop C taskloop.c)
weft_abi_test(threadprivate C threadprivate.c)
weft_abi_test(threadprivate_nested C threadprivate_nested.c)
weft_abi_test(atomic C atomic.c OPTIONS -Wno-unused-but-set-variable)
weft_abi_test(flush C flush.c)
weft_abi_test(proc_bind C proc_bind.c)
weft_abi_test(routines_time C routines_time.c)
weft_abi_test(dynamic C dynamic.c)
weft_abi_test(orphaned C orphaned.c)
weft_abi_test(entry_points C entry_points.c)

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
weft_abi_test(lock_old C lock_old.c PAIRS 2_2 8_8)
weft_abi_test(parallel_wide C parallel_wide.c NO_O0)
weft_abi_test(routines_5 C routines_5.c PAIRS 2_2 8_8)
weft_abi_test(teams C teams.c)
weft_abi_test(target C target.c)
weft_abi_test(allocator C allocator.c PAIRS 1_1 2_2 8_8 64_8)
weft_abi_test(target_teams_f Fortran target_teams.F90 PAIRS 1_1 2_2 8_8 64_8)
weft_abi_test(target_teams_f_integer8 Fortran target_teams.F90 PAIRS 2_2 8_8 NO_O0 OPTIONS
  $<$<COMPILE_LANGUAGE:Fortran>:-fdefault-integer-8>)
weft_abi_test(target_offload C target_offload.c PAIRS 2_2 NO_O0)
weft_abi_test(routines_new C routines_new.c PAIRS 2_2 8_8)

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
  abi_register(abi.env.${case} 60 COMMAND ${command})
  if(where STREQUAL stock)
    abi_register_stock(stock.env.${case} 60 COMMAND ${command})
  endif()
endforeach()

# Places. places_test.py knows the cases.
abi_program(abi_place_probe -O2 place_probe.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS places_test.py)
execute_process(COMMAND ${Python3_EXECUTABLE} ${abi_root}/places_test.py --list
  OUTPUT_VARIABLE abi_place_cases COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" abi_place_cases "${abi_place_cases}")
foreach(case ${abi_place_cases})
  abi_register(abi.places.${case} 60 COMMAND
    ${Python3_EXECUTABLE} ${abi_root}/places_test.py --probe $<TARGET_FILE:abi_place_probe> ${case})
endforeach()

abi_program(abi_place_bound -O2 place_bound.c)
foreach(policy true close spread)
  set(environment "OMP_PLACES={0},{1}" OMP_PROC_BIND=${policy} WEFT_NUM_WORKERS=2)
  abi_register(abi.place_bound.${policy} 60 COMMAND abi_place_bound ENV ${environment})
  abi_register_stock(stock.place_bound.${policy} 60 COMMAND abi_place_bound ENV ${environment})
endforeach()

# What the shared object exports and needs.
abi_register(abi.symbols 60 COMMAND
  ${Python3_EXECUTABLE} ${abi_root}/symbols.py ${WEFT_STOCK_LIBGOMP} ${WEFT_DROPIN_DIR}/libgomp.so.1)

# Entry points that are not there yet end the process with one line. Take a name out when it is implemented.
abi_program(abi_not_done -O2 not_done.c)
function(abi_not_done_test name)
  abi_register(abi.not_done.${name} 30 COMMAND
    ${Python3_EXECUTABLE} ${abi_root}/not_done.py $<TARGET_FILE:abi_not_done> ${name} ${ARGN}
    ENV OMP_NUM_THREADS=4 WEFT_NUM_WORKERS=2)
endfunction()
foreach(name GOMP_doacross_post GOMP_doacross_wait GOMP_doacross_ull_post GOMP_doacross_ull_wait
    GOMP_loop_doacross_start GOMP_loop_doacross_static_start GOMP_loop_doacross_dynamic_start
    GOMP_loop_doacross_guided_start GOMP_loop_doacross_runtime_start GOMP_loop_ull_doacross_start
    GOMP_loop_ull_doacross_static_start GOMP_loop_ull_doacross_dynamic_start GOMP_loop_ull_doacross_guided_start
    GOMP_loop_ull_doacross_runtime_start GOMP_parallel_reductions GOMP_scope_start GOMP_taskgroup_reduction_register
    GOMP_taskgroup_reduction_unregister GOMP_task_reduction_remap GOMP_workshare_task_reduction_unregister
    omp_fulfill_event)
  abi_not_done_test(${name})
endforeach()
abi_not_done_test(construct-doacross GOMP_loop_doacross)
abi_not_done_test(construct-task-reduction GOMP_taskgroup_reduction_register)
abi_not_done_test(construct-taskloop-reduction "GOMP_task(loop|group_reduction_register)")
abi_not_done_test(construct-reduction-modifier GOMP_parallel_reductions)
abi_not_done_test(construct-loop-reduction-modifier GOMP_loop_start)
abi_not_done_test(construct-detach GOMP_task)
