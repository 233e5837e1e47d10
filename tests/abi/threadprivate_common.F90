! threadprivate COMMON blocks and SAVE variables: copies, copyin of a block and of single members, persistence.
module state
  implicit none
  integer, save :: counter = 5
  real(8), allocatable, save :: buffer(:)
  !$omp threadprivate(counter, buffer)
end module state

module threadprivate_common
  use omp_lib
  use check_m
  use state
  implicit none
contains

  subroutine set(number)
    integer, intent(in) :: number
    integer :: ia, ib(50)
    real(8) :: x(200)
    common /weft_block/ ia, ib, x
    !$omp threadprivate(/weft_block/)
    ia = number
    ib = number * 2
    x = number * 0.5d0
  end subroutine set

  logical function holds(number)
    integer, intent(in) :: number
    integer :: ia, ib(50)
    real(8) :: x(200)
    common /weft_block/ ia, ib, x
    !$omp threadprivate(/weft_block/)
    holds = ia == number .and. all(ib == number * 2) .and. all(x == number * 0.5d0)
  end function holds

  subroutine copies_and_persistence(members)
    integer, intent(in) :: members
    integer :: round
    !$omp parallel num_threads(members)
    call set(omp_get_thread_num())
    counter = omp_get_thread_num() * 10
    if (allocated(buffer)) deallocate (buffer)
    allocate (buffer(omp_get_thread_num() + 1), source=1d0)
    !$omp barrier
    call check(holds(omp_get_thread_num()), __LINE__)
    !$omp end parallel
    do round = 1, 10
      !$omp parallel num_threads(members)
      call check(holds(omp_get_thread_num()), __LINE__)
      call check_eq(counter, omp_get_thread_num() * 10 + round - 1, __LINE__)
      call check_eq(size(buffer), omp_get_thread_num() + 1, __LINE__)
      counter = counter + 1
      !$omp barrier
      call check_eq(counter, omp_get_thread_num() * 10 + round, __LINE__)
      !$omp end parallel
    end do
  end subroutine copies_and_persistence

  subroutine copyin_block(members)
    integer, intent(in) :: members
    integer :: ia, ib(50)
    real(8) :: x(200)
    common /weft_block/ ia, ib, x
    !$omp threadprivate(/weft_block/)
    call set(77)
    counter = 3
    !$omp parallel num_threads(members) copyin(/weft_block/, counter)
    call check(holds(77), __LINE__)
    call check_eq(counter, 3, __LINE__)
    !$omp barrier
    call set(omp_get_thread_num())
    !$omp end parallel
    !$omp parallel num_threads(members)
    call check(holds(omp_get_thread_num()), __LINE__)
    !$omp end parallel
    ib(4) = 1234
    !$omp parallel num_threads(members) copyin(ib)
    call check_eq(ib(4), 1234, __LINE__)
    call check_eq(ia, omp_get_thread_num(), __LINE__)
    !$omp end parallel
    !$omp parallel num_threads(members)
    ia = 0
    !$omp barrier
    !$omp single
    ia = 55
    !$omp end single copyprivate(ia)
    call check_eq(ia, 55, __LINE__)
    !$omp end parallel
  end subroutine copyin_block

  subroutine over_barriers(members)
    integer, intent(in) :: members
    integer :: i
    !$omp parallel num_threads(members) private(i)
    do i = 1, 30
      call set(omp_get_thread_num() + i)
      !$omp barrier
      call check(holds(omp_get_thread_num() + i), __LINE__)
      !$omp barrier
    end do
    !$omp end parallel
  end subroutine over_barriers

  subroutine body()
    call copies_and_persistence(omp_get_max_threads())
    call copies_and_persistence(5)
    call copyin_block(omp_get_max_threads())
    call copyin_block(4)
    call over_barriers(omp_get_max_threads())
  end subroutine body
end module threadprivate_common

program main
  use threadprivate_common
  implicit none
  call check_run_flat(body)
end program main
