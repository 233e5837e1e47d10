! teams and target in Fortran, on the host.
program target_teams
  use check_m
  call check_run_flat(body)

contains

  subroutine body()
    call teams_region()
    call target_region()
    call absent_in_target()
    call device_routines()
    call places()
  end subroutine body

  subroutine teams_region()
    use omp_lib
    integer :: seen(0:3), total, i, hits(200)
    seen = 0
    total = 0
    !$omp teams num_teams(4) reduction(+:total)
    seen(omp_get_team_num()) = seen(omp_get_team_num()) + 1
    total = total + omp_get_team_num()
    call check_eq(int(omp_get_num_teams()), 4, __LINE__)
    !$omp end teams
    call check(all(seen == 1), __LINE__)
    call check_eq(total, 6, __LINE__)
    hits = 0
    !$omp teams distribute parallel do num_teams(3) thread_limit(2)
    do i = 1, 200
      hits(i) = hits(i) + 1
    end do
    call check(all(hits == 1), __LINE__)
    call omp_set_num_teams(2)
    call omp_set_teams_thread_limit(5)
    call check_eq(int(omp_get_max_teams()), 2, __LINE__)
    call check_eq(int(omp_get_teams_thread_limit()), 5, __LINE__)
    total = 0
    !$omp teams reduction(+:total)
    total = total + 1
    !$omp end teams
    call check_eq(total, 2, __LINE__)
    call omp_set_num_teams(0)
    call omp_set_teams_thread_limit(0)
  end subroutine teams_region

  ! What is absent has no address, and is not there in the region either.
  subroutine absent_in_target()
    integer, pointer :: there(:)
    allocate (there(3))
    there = 5
    call fill()
    call check(all(there == 5), __LINE__)
    call fill(there)
    call check(all(there == 42), __LINE__)
    deallocate (there)
  end subroutine absent_in_target

  subroutine fill(array)
    integer, optional, pointer, intent(in) :: array(:)
    !$omp target has_device_addr(array)
    if (present(array)) array = 42
    !$omp end target
  end subroutine fill

  subroutine target_region()
    use omp_lib
    integer :: i, scalar, array(50), length, total
    integer, allocatable :: dynamic(:)
    type :: pair
      character(10) :: text
      real(8) :: number
    end type pair
    type(pair) :: both
    length = 50
    scalar = 3
    array = [(i, i = 1, 50)]
    allocate (dynamic(length))
    dynamic = 1
    both = pair("text", 2.5d0)
    !$omp target map(tofrom: array, dynamic) firstprivate(scalar, both)
    array(1) = scalar
    dynamic(2) = merge(7, 0, both%number == 2.5d0 .and. omp_is_initial_device())
    scalar = 100
    both%number = 0
    !$omp end target
    call check_eq(array(1), 3, __LINE__)
    call check_eq(dynamic(2), 7, __LINE__)
    call check_eq(scalar, 3, __LINE__)
    call check(both%number == 2.5d0, __LINE__)
    !$omp target data map(tofrom: array)
    !$omp target
    array(2) = array(1) + 1
    !$omp end target
    !$omp target update from(array)
    call check_eq(array(2), 4, __LINE__)
    !$omp end target data
    total = 0
    !$omp target teams distribute parallel do map(to: array) reduction(+:total)
    do i = 3, 50
      total = total + array(i)
    end do
    call check_eq(total, 1272, __LINE__)
    !$omp parallel num_threads(3)
    !$omp single
    !$omp target nowait map(tofrom: total) depend(inout: total)
    total = total + 1
    !$omp end target
    !$omp target nowait map(tofrom: total) depend(inout: total)
    total = total * 2
    !$omp end target
    !$omp taskwait
    call check_eq(total, 2546, __LINE__)
    !$omp end single
    !$omp end parallel
    deallocate (dynamic)
  end subroutine target_region

  subroutine device_routines()
    use omp_lib
    use iso_c_binding
    integer(4), target :: from(10), to(10)
    integer(c_int) :: host
    from = 5
    to = 0
    host = int(omp_get_initial_device(), c_int)
    call check_eq(int(omp_target_memcpy(c_loc(to), c_loc(from), 20_c_size_t, 4_c_size_t, 0_c_size_t, host, host)), 0, &
      __LINE__)
    call check(all(to == [0, 5, 5, 5, 5, 5, 0, 0, 0, 0]), __LINE__)
    call check(omp_target_is_present(c_loc(from), host) /= 0, __LINE__)
    call check_eq(int(omp_get_num_devices()), 0, __LINE__)
    call check_eq(int(omp_pause_resource(omp_pause_soft, omp_get_initial_device())), 0, __LINE__)
    call check_eq(int(omp_pause_resource_all(omp_pause_hard)), 0, __LINE__)
  end subroutine device_routines

  subroutine places()
    use omp_lib
    integer :: place, count
    integer, allocatable :: ids(:)
    count = int(omp_get_num_places())
    do place = 0, count - 1
      allocate (ids(int(omp_get_place_num_procs(place))))
      ids = -1
      call omp_get_place_proc_ids(place, ids)
      call check(all(ids >= 0), __LINE__)
      deallocate (ids)
    end do
    allocate (ids(int(omp_get_partition_num_places())))
    ids = -1
    call omp_get_partition_place_nums(ids)
    call check(all(ids >= 0 .and. ids < count), __LINE__)
    call check(omp_get_place_num() < count, __LINE__)
    if (count > 0) call check_eq(size(ids), count, __LINE__)
  end subroutine places

end program target_teams
