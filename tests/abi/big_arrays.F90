! A member's automatic arrays of about 6 MB: they fit the default stack where ulimit -s is 8 MB, in every member, nested
! members and tasks included.
module big_arrays
  use omp_lib
  use check_m
  implicit none
contains

  real(8) function use_stack(n, seed)
    integer, intent(in) :: n, seed
    real(8) :: work(n)
    work(1) = seed
    work(n) = seed
    work(n / 2) = seed
    !$omp barrier
    use_stack = work(1) + work(n / 2) + work(n)
  end function use_stack

  real(8) function use_stack_in_task(n, seed)
    integer, intent(in) :: n, seed
    real(8) :: work(n)
    integer :: i
    do i = 1, n, 512
      work(i) = seed
    end do
    use_stack_in_task = sum(work(1:n:512)) / size(work(1:n:512))
  end function use_stack_in_task

  subroutine body()
    integer, parameter :: n = 6 * 1000 * 1000 / 8
    integer :: wrong, i
    wrong = 0
    !$omp parallel reduction(+: wrong)
    if (use_stack(n, omp_get_thread_num()) /= 3 * omp_get_thread_num()) wrong = wrong + 1
    !$omp end parallel
    call check_eq(wrong, 0, __LINE__)
    !$omp parallel
    !$omp single
    do i = 1, 20
      !$omp task shared(wrong)
      if (use_stack_in_task(n, i) /= i) then
        !$omp atomic
        wrong = wrong + 1
      end if
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call check_eq(wrong, 0, __LINE__)
    call omp_set_max_active_levels(2)
    !$omp parallel num_threads(2)
    !$omp parallel num_threads(3) reduction(+: wrong)
    if (use_stack(n, omp_get_thread_num()) /= 3 * omp_get_thread_num()) wrong = wrong + 1
    !$omp end parallel
    !$omp end parallel
    call check_eq(wrong, 0, __LINE__)
  end subroutine body
end module big_arrays

program main
  use big_arrays
  implicit none
  call check_run_flat(body)
end program main
