// The steps. Each file of theirs, steps_*.c, holds one sort; kinds.c is the list of them all.
#ifndef WEFT_TESTS_STRESS_CHAOS_STEPS_H
#define WEFT_TESTS_STRESS_CHAOS_STEPS_H

#include "step.h"

// steps_openmp.c
StepFunction omp_barriers, single_copy, criticals, omp_lock_across, nest_locks, allocations, bits, hand_over_blocks;

// steps_loops.c
StepFunction loop_static, loop_dynamic, loop_guided, loops_nowait, loop_ordered, loop_doacross, reductions, in_sections;

// steps_tasks.c
StepFunction tasks_fibonacci, tasks_chain, tasks_mutex, tasks_group, tasks_loop, tasks_detached,
    tasks_keep_their_thread, tasks_wait_yielding, tasks_wait_sleeping, tasks_open_regions;

// steps_cancel.c
StepFunction cancel_for, cancel_parallel, cancel_taskgroup;

// steps_nest.c
StepFunction nested, nested_by_one, nested_reductions, nested_under_lock, nested_under_mutex;

// steps_waits.c
StepFunction barrier_spinning, barrier_pausing, barrier_yielding, barrier_sleeping, barrier_mixed,
    barrier_yielding_or_omp, flags_yielding, flags_sleeping, flags_spinning;

// steps_kernel.c
StepFunction barrier_pthread, barrier_condition, turns, mutex_short, mutex_yielding, mutex_across, common_mutex_across,
    common_mutex_short, rwlock_across, spin_lock_across, semaphore, through_pipe;
void check_common_count(void);

// steps_threads.c
StepFunction makes_thread, answers_yielding, answers_sleeping;

// steps_fork.c
StepFunction child_of_thread, child_of_member;

#endif
