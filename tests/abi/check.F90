! The harness of the ABI tests, for Fortran: `call check(condition, __LINE__)`, and as main program
! `call check_run(body)` (serial part, every member of a region of 3, explicit tasks) or `call check_run_flat(body)`.
module check_m
  use omp_lib
  use iso_fortran_env, only: error_unit
  implicit none
  private
  public :: check, check_eq, check_run, check_run_flat, check_finish, check_where, check_serial

  integer, parameter :: check_serial = 0, check_nested = 1, check_in_task = 2
  integer :: failures = 0
  integer, protected :: check_where = check_serial

  interface
    subroutine body_interface()
    end subroutine body_interface
    subroutine check_runtime() bind(c, name="check_runtime_f")
    end subroutine check_runtime
  end interface

contains

  subroutine fail(line, text)
    integer, intent(in) :: line
    character(*), intent(in) :: text
    !$omp critical (check_fail)
    failures = failures + 1
    if (failures <= 20) write (error_unit, '(a, i0, 3a, i0)') "line ", line, ": ", text, ", context ", check_where
    !$omp end critical (check_fail)
  end subroutine fail

  subroutine check(condition, line)
    logical, intent(in) :: condition
    integer, intent(in) :: line
    if (.not. condition) call fail(line, "condition does not hold")
  end subroutine check

  subroutine check_eq(left, right, line)
    integer, intent(in) :: left, right, line
    character(80) :: text
    if (left /= right) then
      write (text, '(a, i0, a, i0)') "not equal: ", left, " and ", right
      call fail(line, trim(text))
    end if
  end subroutine check_eq

  subroutine check_run(body)
    procedure(body_interface) :: body
    integer :: i
    call check_runtime()
    call body()
    call omp_set_max_active_levels(omp_get_supported_active_levels())
    check_where = check_nested
    !$omp parallel num_threads(3)
    call body()
    !$omp end parallel
    check_where = check_in_task
    !$omp parallel num_threads(2)
    !$omp single
    do i = 1, 2
      !$omp task
      call body()
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call check_finish()
  end subroutine check_run

  subroutine check_run_flat(body)
    procedure(body_interface) :: body
    call check_runtime()
    call body()
    call check_finish()
  end subroutine check_run_flat

  subroutine check_finish()
    if (failures > 0) then
      write (error_unit, '(i0, a)') failures, " checks failed"
      stop 1
    end if
  end subroutine check_finish

end module check_m
