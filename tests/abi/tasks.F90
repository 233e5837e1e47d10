! Tasks, taskgroup, taskloop, depend and locks from Fortran.
module tasks
  use omp_lib
  use check_m
  implicit none
contains

  recursive function fib(n) result(value)
    integer, intent(in) :: n
    integer :: value, a, b
    if (n < 2) then
      value = n
      return
    end if
    !$omp task shared(a)
    a = fib(n - 1)
    !$omp end task
    !$omp task shared(b)
    b = fib(n - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function fib

  subroutine recursion()
    integer :: value
    !$omp parallel
    !$omp single
    value = fib(13)
    !$omp end single
    !$omp end parallel
    call check_eq(value, 233, __LINE__)
  end subroutine recursion

  subroutine firstprivate_arrays()
    integer :: numbers(50), i, good
    character(:), allocatable :: text
    good = 0
    !$omp parallel
    !$omp single
    do i = 1, 40
      numbers = i
      text = repeat("x", i)
      !$omp task firstprivate(numbers, text, i) shared(good)
      if (all(numbers == i) .and. len(text) == i) then
        !$omp atomic
        good = good + 1
      end if
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call check_eq(good, 40, __LINE__)
  end subroutine firstprivate_arrays

  subroutine dependences()
    integer :: cell, i, wrong
    cell = 0
    wrong = 0
    !$omp parallel
    !$omp single
    do i = 1, 60
      !$omp task depend(inout: cell) shared(cell, wrong) firstprivate(i)
      if (cell /= i - 1) wrong = wrong + 1
      cell = i
      !$omp end task
    end do
    !$omp task if (.false.) depend(in: cell) shared(cell)
    call check_eq(cell, 60, __LINE__)
    !$omp end task
    !$omp end single
    !$omp end parallel
    call check_eq(wrong, 0, __LINE__)
  end subroutine dependences

  subroutine groups_and_loops()
    integer :: i, done
    integer(8) :: long
    done = 0
    !$omp parallel
    !$omp single
    !$omp taskgroup
    do i = 1, 10
      !$omp task shared(done)
      !$omp task shared(done)
      !$omp atomic
      done = done + 1
      !$omp end task
      !$omp end task
    end do
    !$omp end taskgroup
    call check_eq(done, 10, __LINE__)
    !$omp taskloop grainsize(3) shared(done)
    do i = 1, 50
      !$omp atomic
      done = done + 1
    end do
    !$omp end taskloop
    !$omp taskloop num_tasks(4) shared(done)
    do long = 100_8, 51_8, -1_8
      !$omp atomic
      done = done + 1
    end do
    !$omp end taskloop
    call check_eq(done, 110, __LINE__)
    !$omp task final(.true.) shared(done)
    call check(omp_in_final(), __LINE__)
    !$omp end task
    !$omp taskyield
    !$omp end single
    !$omp end parallel
  end subroutine groups_and_loops

  subroutine locks()
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: i, total, depth
    total = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    call check(omp_test_lock(lock), __LINE__)
    call check(.not. omp_test_lock(lock), __LINE__)
    call omp_unset_lock(lock)
    call check_eq(omp_test_nest_lock(nest), 1, __LINE__)
    call omp_unset_nest_lock(nest)
    !$omp parallel private(i, depth)
    do i = 1, 40
      call omp_set_lock(lock)
      total = total + 1
      call omp_unset_lock(lock)
      call omp_set_nest_lock(nest)
      depth = omp_test_nest_lock(nest)
      call check_eq(depth, 2, __LINE__)
      call omp_unset_nest_lock(nest)
      call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel
    call check_eq(total, 40 * omp_get_max_threads(), __LINE__)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
  end subroutine locks

  subroutine body()
    call recursion()
    call firstprivate_arrays()
    call dependences()
    call groups_and_loops()
    call locks()
  end subroutine body
end module tasks

program main
  use tasks
  implicit none
  call check_run(body)
end program main
