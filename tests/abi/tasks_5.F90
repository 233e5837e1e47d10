! Detach, task reductions, doacross loops and exclusive dependences from Fortran.
module tasks_5
  use omp_lib
  use check_m
  implicit none
contains

  subroutine detached()
    integer(omp_event_handle_kind) :: event
    integer :: i, count, seen
    count = 0
    seen = 0
    !$omp parallel
    !$omp single
    do i = 1, 20
      !$omp task detach(event) depend(out: seen) shared(count)
      !$omp atomic
      count = count + 1
      !$omp end task
      !$omp task firstprivate(event) shared(count)
      !$omp atomic
      count = count + 1
      call omp_fulfill_event(event)
      !$omp end task
      !$omp task depend(in: seen) shared(seen)
      !$omp atomic
      seen = seen + 1
      !$omp end task
      !$omp taskwait
    end do
    !$omp end single
    !$omp end parallel
    call check_eq(count, 40, __LINE__)
    call check_eq(seen, 20, __LINE__)
  end subroutine detached

  subroutine reductions()
    integer :: total, i, by_loop
    integer :: counts(8)
    total = 1
    counts = 0
    by_loop = 0
    !$omp parallel
    !$omp single
    !$omp taskgroup task_reduction(+: total, counts)
    do i = 1, 32
      !$omp task in_reduction(+: total, counts) firstprivate(i)
      total = total + i
      counts(mod(i, 8) + 1) = counts(mod(i, 8) + 1) + 1
      !$omp end task
    end do
    !$omp end taskgroup
    !$omp taskloop reduction(+: by_loop) grainsize(5)
    do i = 1, 100
      by_loop = by_loop + i
    end do
    !$omp end taskloop
    !$omp end single
    !$omp end parallel
    call check_eq(total, 529, __LINE__)
    call check(all(counts == 4), __LINE__)
    call check_eq(by_loop, 5050, __LINE__)
    by_loop = 0
    !$omp parallel
    !$omp do reduction(task, +: by_loop) schedule(dynamic, 3)
    do i = 1, 30
      !$omp task in_reduction(+: by_loop) firstprivate(i)
      by_loop = by_loop + i
      !$omp end task
    end do
    !$omp end do
    !$omp end parallel
    call check_eq(by_loop, 465, __LINE__)
  end subroutine reductions

  subroutine wavefront()
    integer :: grid(0:12, 0:9), i, j
    grid = 1
    !$omp parallel do ordered(2) schedule(static, 1) private(j)
    do i = 1, 12
      do j = 1, 9
        !$omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
        grid(i, j) = mod(grid(i - 1, j) + grid(i, j - 1), 1009)
        !$omp ordered depend(source)
      end do
    end do
    !$omp end parallel do
    do i = 1, 12
      do j = 1, 9
        call check_eq(grid(i, j), mod(grid(i - 1, j) + grid(i, j - 1), 1009), __LINE__)
      end do
    end do
  end subroutine wavefront

  subroutine exclusive()
    integer :: value, i
    value = 0
    !$omp parallel
    !$omp single
    do i = 1, 50
      !$omp task depend(mutexinoutset: value) shared(value)
      value = value + 1
      !$omp end task
    end do
    !$omp taskwait depend(in: value)
    call check_eq(value, 50, __LINE__)
    !$omp end single
    !$omp end parallel
  end subroutine exclusive

  ! cancel-var is false here: everything runs to its end.
  subroutine not_cancelled()
    integer :: i, runs
    runs = 0
    call check(.not. omp_get_cancellation(), __LINE__)
    !$omp parallel
    !$omp do schedule(dynamic) reduction(+: runs)
    do i = 1, 20
      !$omp cancel do if (i == 3)
      runs = runs + 1
    end do
    !$omp end do
    !$omp end parallel
    call check_eq(runs, 20, __LINE__)
  end subroutine not_cancelled

  subroutine body()
    call detached()
    call exclusive()
    call wavefront()
    call not_cancelled()
    ! Lists of reductions are shared around: not in the tasks of check_run.
    if (check_where == check_serial) call reductions()
  end subroutine body
end module tasks_5

program main
  use tasks_5
  call check_run(body)
end program main
