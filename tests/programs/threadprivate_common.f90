! Threadprivate COMMON blocks and module variables, as older Fortran programs keep their state: each thread sees what
! it stored itself, after barriers and in the next region. Prints sums to be compared with another runtime's.
module state
  implicit none
  integer, save :: calls = 0
  real(8), allocatable, save :: work(:)
  !$omp threadprivate(calls, work)
end module state

subroutine store(number, region)
  implicit none
  integer, intent(in) :: number, region
  integer :: owner, generation
  real(8) :: table
  common /owners/ owner, generation
  common /tables/ table(500)
  !$omp threadprivate(/owners/, /tables/)
  integer :: i
  owner = number
  generation = region
  do i = 1, 500
    table(i) = number * 1000.0d0 + i + region * 0.5d0
  end do
end subroutine store

subroutine verify(number, region, place, failures)
  implicit none
  integer, intent(in) :: number, region
  character(*), intent(in) :: place
  integer, intent(inout) :: failures
  integer :: owner, generation
  real(8) :: table
  common /owners/ owner, generation
  common /tables/ table(500)
  !$omp threadprivate(/owners/, /tables/)
  integer :: i, wrong
  wrong = 0
  if (owner /= number .or. generation /= region) wrong = 1
  do i = 1, 500
    if (table(i) /= number * 1000.0d0 + i + region * 0.5d0) wrong = wrong + 1
  end do
  if (wrong > 0) then
    !$omp critical
    write (*, '(a,a,a,i0,a,i0,a,i0)') 'failed ', place, ': thread ', number, ' found the data of thread ', owner, &
      ', wrong values: ', wrong
    !$omp end critical
    !$omp atomic
    failures = failures + 1
  end if
end subroutine verify

program threadprivate_common
  use omp_lib
  use state
  implicit none
  integer :: owner, generation
  real(8) :: table
  common /owners/ owner, generation
  common /tables/ table(500)
  !$omp threadprivate(/owners/, /tables/)
  integer, parameter :: sizes(4) = [2, 16, 64, 7]
  integer :: failures, round, s, members, number, expected, i, iterations
  real(8) :: total

  failures = 0
  iterations = 0
  call omp_set_dynamic(.false.)
  do s = 1, size(sizes)
    members = sizes(s)
    do round = 1, 10
      ! Stored in one region, seen after each of several barriers ...
      !$omp parallel num_threads(members) private(number) shared(failures)
      number = omp_get_thread_num()
      call store(number, round)
      !$omp barrier
      call verify(number, round, 'after a barrier', failures)
      !$omp barrier
      call verify(number, round, 'after two barriers', failures)
      !$omp do schedule(dynamic)
      do i = 1, 200
        !$omp atomic
        iterations = iterations + 1
      end do
      !$omp end do
      call verify(number, round, 'after a loop', failures)
      !$omp end parallel
      ! ... and in the next region of as many threads.
      !$omp parallel num_threads(members) private(number) shared(failures)
      number = omp_get_thread_num()
      call verify(number, round, 'in the next region', failures)
      !$omp end parallel
      !$omp parallel num_threads(members) private(number) shared(failures)
      !$omp barrier
      number = omp_get_thread_num()
      call verify(number, round, 'in the region after that', failures)
      !$omp end parallel
    end do

    ! copyin of a whole block and of one variable.
    owner = 4711
    generation = members
    table = 2.5d0
    total = 0
    !$omp parallel num_threads(members) copyin(/owners/, table) reduction(+:total) shared(failures)
    if (owner /= 4711 .or. generation /= members .or. any(table /= 2.5d0)) then
      !$omp atomic
      failures = failures + 1
    end if
    table = table + omp_get_thread_num()
    !$omp barrier
    total = total + sum(table)
    !$omp end parallel
    write (*, '(a,i0,a,es22.14)') 'sum_of_tables_', members, ' ', total

    ! Module variables that persist, one of them allocated by each thread for itself.
    !$omp parallel num_threads(members)
    calls = omp_get_thread_num()
    if (allocated(work)) deallocate (work)
    allocate (work(omp_get_thread_num() + 1))
    work = omp_get_thread_num()
    !$omp end parallel
    do round = 1, 20
      !$omp parallel num_threads(members)
      calls = calls + 1
      !$omp barrier
      work = work + 1
      !$omp end parallel
    end do
    total = 0
    !$omp parallel num_threads(members) private(expected) reduction(+:total) shared(failures)
    expected = omp_get_thread_num() + 20
    if (calls /= expected .or. size(work) /= expected - 19 .or. any(work /= expected)) then
      !$omp atomic
      failures = failures + 1
    end if
    total = total + sum(work)
    !$omp end parallel
    write (*, '(a,i0,a,es22.14)') 'sum_of_work_', members, ' ', total
  end do

  call large_automatic_arrays(failures)
  call write_in_members(failures)
  write (*, '(a,i0)') 'iterations ', iterations
  write (*, '(a,i0)') 'failures ', failures
  if (failures /= 0) error stop 1

contains

  ! Arrays on the stack of each thread, a megabyte each.
  subroutine large_automatic_arrays(failures)
    integer, intent(inout) :: failures
    real(8) :: total
    total = 0
    !$omp parallel num_threads(16) reduction(+:total) shared(failures)
    call use_array(131072, omp_get_thread_num(), total, failures)
    !$omp end parallel
    write (*, '(a,es22.14)') 'sum_of_automatic_arrays ', total
  end subroutine large_automatic_arrays

  subroutine use_array(length, number, total, failures)
    integer, intent(in) :: length, number
    real(8), intent(inout) :: total
    integer, intent(inout) :: failures
    real(8) :: values(length)
    integer :: i
    do i = 1, length
      values(i) = number + i * 1.0d-3
    end do
    !$omp barrier
    if (values(length) /= number + length * 1.0d-3) then
      !$omp atomic
      failures = failures + 1
    end if
    total = total + sum(values)
  end subroutine use_array

  ! The Fortran library's own state: internal files and a unit of each thread.
  subroutine write_in_members(failures)
    integer, intent(inout) :: failures
    integer :: i, unit_number, back
    character(40) :: text
    !$omp parallel num_threads(16) private(i, unit_number, back, text) shared(failures)
    open (newunit=unit_number, status='scratch', action='readwrite')
    do i = 1, 20
      write (text, '(i0,1x,i0)') omp_get_thread_num(), i
      write (unit_number, '(a)') trim(text)
    end do
    !$omp barrier
    rewind (unit_number)
    do i = 1, 20
      read (unit_number, *) back
      if (back /= omp_get_thread_num()) then
        !$omp atomic
        failures = failures + 1
      end if
    end do
    close (unit_number)
    !$omp end parallel
  end subroutine write_in_members
end program threadprivate_common
