! Every omp_* routine through omp_lib, in the serial part, a region and a nested region. Compiled twice: with default
! integers, and with -fdefault-integer-8, which selects the entry points with _8_.
module routines
  use omp_lib
  use iso_fortran_env, only: error_unit
  implicit none
  integer :: failures = 0

  interface expect
    module procedure expect_4, expect_8
  end interface expect
contains

  subroutine expect_4(condition, line)
    logical(4), intent(in) :: condition
    integer, intent(in) :: line
    if (condition) return
    !$omp critical (expectation)
    failures = failures + 1
    write (error_unit, '(a, i0)') "condition does not hold: routines.F90 line ", line
    !$omp end critical (expectation)
  end subroutine expect_4

  subroutine expect_8(condition, line)
    logical(8), intent(in) :: condition
    integer, intent(in) :: line
    call expect_4(logical(condition, 4), line)
  end subroutine expect_8

  subroutine serial_part()
    call expect(omp_get_num_threads() == 1, __LINE__)
    call expect(omp_get_thread_num() == 0, __LINE__)
    call expect(omp_get_max_threads() >= 1, __LINE__)
    call expect(omp_get_num_procs() >= 1, __LINE__)
    call expect(.not. omp_in_parallel(), __LINE__)
    call expect(.not. omp_in_final(), __LINE__)
    call expect(omp_get_level() == 0, __LINE__)
    call expect(omp_get_active_level() == 0, __LINE__)
    call expect(omp_get_ancestor_thread_num(0) == 0, __LINE__)
    call expect(omp_get_ancestor_thread_num(1) == -1, __LINE__)
    call expect(omp_get_team_size(0) == 1, __LINE__)
    call expect(omp_get_team_size(1) == -1, __LINE__)
    call expect(omp_get_team_size(-1) == -1, __LINE__)
    call expect(omp_get_thread_limit() >= 1, __LINE__)
    call expect(omp_get_num_devices() == 0, __LINE__)
    call expect(omp_get_initial_device() == 0, __LINE__)
    call expect(omp_is_initial_device(), __LINE__)
    call expect(omp_get_num_teams() == 1, __LINE__)
    call expect(omp_get_team_num() == 0, __LINE__)
    call expect(.not. omp_get_cancellation(), __LINE__)
    call expect(omp_get_max_task_priority() == 0, __LINE__)
    call expect(omp_get_supported_active_levels() >= 6, __LINE__)
  end subroutine serial_part

  subroutine settings()
    integer(omp_sched_kind) :: kind
    integer :: chunk, before
    before = omp_get_max_threads()
    call omp_set_num_threads(6)
    call expect(omp_get_max_threads() == 6, __LINE__)
    !$omp parallel
    call expect(omp_get_num_threads() == 6, __LINE__)
    !$omp end parallel
    call omp_set_num_threads(before)

    call omp_set_dynamic(.true.)
    call expect(omp_get_dynamic(), __LINE__)
    call omp_set_dynamic(.false.)
    call expect(.not. omp_get_dynamic(), __LINE__)

    call omp_set_nested(.true.)
    call expect(omp_get_nested(), __LINE__)
    call omp_set_nested(.false.)
    call expect(.not. omp_get_nested(), __LINE__)

    call omp_set_schedule(omp_sched_guided, 12)
    call omp_get_schedule(kind, chunk)
    call expect(kind == omp_sched_guided, __LINE__)
    call expect(chunk == 12, __LINE__)
    call omp_set_schedule(omp_sched_static, 0)
    call omp_get_schedule(kind, chunk)
    call expect(kind == omp_sched_static, __LINE__)
    call omp_set_schedule(omp_sched_dynamic, 1)

    call omp_set_max_active_levels(3)
    call expect(omp_get_max_active_levels() == 3, __LINE__)

    call omp_set_default_device(2)
    call expect(omp_get_default_device() == 2, __LINE__)
    call omp_set_default_device(0)
    call expect(omp_get_default_device() == 0, __LINE__)
  end subroutine settings

  subroutine in_regions()
    call omp_set_max_active_levels(3)
    !$omp parallel num_threads(3)
    call expect(omp_in_parallel(), __LINE__)
    call expect(omp_get_num_threads() == 3, __LINE__)
    call expect(omp_get_level() == 1, __LINE__)
    call expect(omp_get_active_level() == 1, __LINE__)
    call expect(omp_get_ancestor_thread_num(1) == omp_get_thread_num(), __LINE__)
    call expect(omp_get_team_size(1) == 3, __LINE__)
    block
      integer :: outer
      outer = omp_get_thread_num()
      !$omp parallel num_threads(2)
      call expect(omp_get_num_threads() == 2, __LINE__)
      call expect(omp_get_level() == 2, __LINE__)
      call expect(omp_get_active_level() == 2, __LINE__)
      call expect(omp_get_ancestor_thread_num(1) == outer, __LINE__)
      call expect(omp_get_ancestor_thread_num(2) == omp_get_thread_num(), __LINE__)
      call expect(omp_get_team_size(1) == 3, __LINE__)
      call expect(omp_get_team_size(2) == 2, __LINE__)
      call expect(omp_get_team_size(3) == -1, __LINE__)
      !$omp task final(.true.)
      call expect(omp_in_final(), __LINE__)
      !$omp end task
      !$omp end parallel
    end block
    !$omp end parallel
  end subroutine in_regions

  subroutine places()
    integer :: number, count, i
    integer, allocatable :: ids(:), partition(:)
    count = omp_get_num_places()
    call expect(count >= 0, __LINE__)
    do number = 0, count - 1
      allocate (ids(omp_get_place_num_procs(number)))
      call omp_get_place_proc_ids(number, ids)
      call expect(all(ids >= 0), __LINE__)
      deallocate (ids)
    end do
    call expect(omp_get_place_num_procs(count) == 0, __LINE__)
    call expect(omp_get_place_num() >= -1, __LINE__)
    allocate (partition(omp_get_partition_num_places()))
    call omp_get_partition_place_nums(partition)
    call expect(all([(partition(i) >= 0, i = 1, size(partition))]), __LINE__)
    call expect(omp_get_proc_bind() == omp_proc_bind_false, __LINE__)
  end subroutine places

  subroutine clock()
    real(8) :: start, tick
    start = omp_get_wtime()
    call expect(omp_get_wtime() >= start, __LINE__)
    tick = omp_get_wtick()
    call expect(tick > 0 .and. tick <= 1d-3, __LINE__)
  end subroutine clock

  subroutine locks()
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: depth
    call omp_init_lock(lock)
    call omp_set_lock(lock)
    call expect(.not. omp_test_lock(lock), __LINE__)
    call omp_unset_lock(lock)
    call expect(logical(omp_test_lock(lock)), __LINE__)
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_init_nest_lock(nest)
    call omp_set_nest_lock(nest)
    depth = omp_test_nest_lock(nest)
    call expect(depth == 2, __LINE__)
    call omp_unset_nest_lock(nest)
    call omp_unset_nest_lock(nest)
    call omp_destroy_nest_lock(nest)
  end subroutine locks
end module routines

program main
  use routines
  implicit none
  interface
    subroutine check_runtime() bind(c, name="check_runtime_f")
    end subroutine check_runtime
  end interface
  call check_runtime()
  call serial_part()
  call settings()
  call in_regions()
  call places()
  call clock()
  call locks()
  if (failures > 0) stop 1
end program main
