! The constructs from Fortran: parallel, do in every schedule, workshare, sections, single, critical, master, ordered,
! atomic, barrier, reductions.
module constructs
  use omp_lib
  use check_m
  implicit none
contains

  subroutine parallel_construct()
    integer :: members, me, first, team
    members = 0
    first = 8
    team = omp_get_max_threads()
    !$omp parallel default(none) private(me) firstprivate(first) shared(members, team)
    me = omp_get_thread_num()
    call check_eq(omp_get_num_threads(), team, __LINE__)
    call check_eq(first, 8, __LINE__)
    first = me
    !$omp atomic
    members = members + 1
    !$omp barrier
    call check_eq(first, me, __LINE__)
    !$omp end parallel
    call check_eq(members, team, __LINE__)
    !$omp parallel num_threads(5) if (.false.)
    call check_eq(omp_get_num_threads(), 1, __LINE__)
    !$omp end parallel
  end subroutine parallel_construct

  subroutine do_loops(n)
    integer, intent(in) :: n
    integer :: times(n), i, last
    integer(8) :: long
    times = 0
    last = -1
    !$omp parallel
    !$omp do
    do i = 1, n
      times(i) = times(i) + 1
    end do
    !$omp end do
    !$omp do schedule(static, 3)
    do i = n, 1, -1
      times(i) = times(i) + 1
    end do
    !$omp end do
    !$omp do schedule(dynamic)
    do i = 1, n
      times(i) = times(i) + 1
    end do
    !$omp end do
    !$omp do schedule(dynamic, 5) lastprivate(last)
    do i = 1, n
      times(i) = times(i) + 1
      last = i
    end do
    !$omp end do
    !$omp do schedule(guided, 2)
    do long = 1_8, int(n, 8)
      times(long) = times(long) + 1
    end do
    !$omp end do nowait
    !$omp barrier
    !$omp do schedule(runtime)
    do i = 1, n, 2
      times(i) = times(i) + 1
    end do
    !$omp end do
    !$omp do schedule(monotonic: dynamic, 2)
    do i = 2, n, 2
      times(i) = times(i) + 1
    end do
    !$omp end do
    !$omp end parallel
    call check(all(times == 6), __LINE__)
    call check_eq(last, n, __LINE__)
  end subroutine do_loops

  subroutine long_ranges()
    integer(8) :: i, base
    integer :: counted
    counted = 0
    base = huge(base) - 40_8
    !$omp parallel do schedule(dynamic, 3) reduction(+: counted)
    do i = base, base + 20_8
      counted = counted + 1
    end do
    !$omp end parallel do
    !$omp parallel do schedule(guided) reduction(+: counted)
    do i = -base + 20_8, -base, -2_8
      counted = counted + 1
    end do
    !$omp end parallel do
    !$omp parallel do schedule(dynamic) reduction(+: counted)
    do i = 5_8, 4_8
      counted = counted + 1000
    end do
    !$omp end parallel do
    call check_eq(counted, 32, __LINE__)
  end subroutine long_ranges

  subroutine collapsed()
    integer :: cells(7, 8, 3), i, j, k
    cells = 0
    !$omp parallel do collapse(3) schedule(dynamic, 4)
    do k = 1, 3
      do j = 8, 1, -1
        do i = 1, 7
          cells(i, j, k) = cells(i, j, k) + 1
        end do
      end do
    end do
    !$omp end parallel do
    call check(all(cells == 1), __LINE__)
  end subroutine collapsed

  subroutine workshare()
    real(8) :: a(200), b(200), total
    integer :: i
    a = [(real(i, 8), i = 1, 200)]
    !$omp parallel workshare
    b = 2 * a
    where (b > 200) b = 200
    total = sum(b)
    !$omp end parallel workshare
    call check(b(50) == 100 .and. b(150) == 200, __LINE__)
    call check(total == sum(min(2 * a, 200d0)), __LINE__)
  end subroutine workshare

  subroutine sections_and_single()
    integer :: bits, singles, copied, masters, last
    bits = 0
    singles = 0
    masters = 0
    last = 0
    !$omp parallel private(copied)
    copied = 0
    !$omp sections reduction(ior: bits) lastprivate(last)
    bits = ior(bits, 1)
    last = 1
    !$omp section
    bits = ior(bits, 2)
    last = 2
    !$omp section
    bits = ior(bits, 4)
    last = 3
    !$omp end sections
    !$omp single
    singles = singles + 1
    copied = 66
    !$omp end single copyprivate(copied)
    call check_eq(copied, 66, __LINE__)
    !$omp single
    singles = singles + 1
    !$omp end single nowait
    !$omp master
    masters = masters + 1
    !$omp end master
    !$omp masked filter(0)
    masters = masters + 1
    !$omp end masked
    !$omp end parallel
    call check_eq(bits, 7, __LINE__)
    call check_eq(last, 3, __LINE__)
    call check_eq(singles, 2, __LINE__)
    call check_eq(masters, 2, __LINE__)
  end subroutine sections_and_single

  subroutine exclusion()
    integer :: plain, named, i, team
    complex(8) :: wide
    integer :: captured, seen(0:1999)
    real(16) :: quad
    plain = 0
    named = 0
    wide = 0
    quad = 0
    seen = 0
    captured = 0
    team = omp_get_max_threads()
    !$omp parallel do schedule(static, 1) private(i)
    do i = 1, 500
      !$omp critical
      plain = plain + 1
      !$omp end critical
      !$omp critical (weft_fortran)
      named = named + 1
      !$omp end critical (weft_fortran)
      !$omp atomic
      wide = wide + (1d0, -2d0)
      !$omp atomic update
      quad = quad + 1
      call ticket(captured, seen)
    end do
    !$omp end parallel do
    ! critical names are global, the counters are not: each team counts its own
    call check_eq(plain, 500, __LINE__)
    call check_eq(named, 500, __LINE__)
    call check(wide == (500d0, -1000d0), __LINE__)
    call check(quad == 500, __LINE__)
    call check(all(seen(0:499) == 1), __LINE__)
  end subroutine exclusion

  subroutine ticket(next, seen)
    integer, intent(inout) :: next, seen(0:)
    integer :: mine
    !$omp atomic capture
    mine = next
    next = next + 1
    !$omp end atomic
    seen(mine) = seen(mine) + 1
  end subroutine ticket

  subroutine ordered_loop()
    integer :: i, next, wrong
    next = 1
    wrong = 0
    !$omp parallel do ordered schedule(dynamic, 2)
    do i = 1, 90
      if (mod(i, 3) == 0) cycle
      !$omp ordered
      if (i < next) wrong = wrong + 1
      next = i + 1
      !$omp end ordered
    end do
    !$omp end parallel do
    call check_eq(wrong, 0, __LINE__)
    call check_eq(next, 90, __LINE__)
  end subroutine ordered_loop

  subroutine reductions(n)
    integer, intent(in) :: n
    integer :: i, total, most, least, bits, histogram(5)
    logical :: every, some, same, differ
    real(8) :: product, section(n)
    real(8), allocatable :: grown(:)
    total = 0
    most = -huge(most)
    least = huge(least)
    bits = not(0)
    histogram = 0
    every = .true.
    some = .false.
    same = .true.
    differ = .false.
    product = 1
    section = 0
    allocate (grown(10), source=0d0)
    !$omp parallel do reduction(+: total, histogram, section, grown) reduction(max: most) reduction(min: least) &
    !$omp& reduction(iand: bits) reduction(.and.: every) reduction(.or.: some) reduction(.eqv.: same) &
    !$omp& reduction(.neqv.: differ) reduction(*: product) schedule(guided)
    do i = 1, n
      total = total + i
      histogram(mod(i, 5) + 1) = histogram(mod(i, 5) + 1) + 1
      section(i) = section(i) + i
      grown(mod(i, 10) + 1) = grown(mod(i, 10) + 1) + 1
      most = max(most, i)
      least = min(least, -i)
      bits = iand(bits, not(ishft(1, mod(i, 4))))
      every = every .and. i > 0
      some = some .or. i == n
      same = same .eqv. .true.
      differ = differ .neqv. (i == 1)
      if (mod(i, 10) == 1) product = product * 2
    end do
    !$omp end parallel do
    call check_eq(total, n * (n + 1) / 2, __LINE__)
    call check_eq(sum(histogram), n, __LINE__)
    call check(all(section == [(real(i, 8), i = 1, n)]), __LINE__)
    call check(sum(grown) == n, __LINE__)
    call check_eq(most, n, __LINE__)
    call check_eq(least, -n, __LINE__)
    call check_eq(bits, not(15), __LINE__)
    call check(every .and. some .and. same .and. differ, __LINE__)
    call check(product == 2d0**((n + 9) / 10), __LINE__)
  end subroutine reductions

  subroutine body()
    parallel_runs: block
      integer :: n
      call parallel_construct()
      do n = 1, 150, 49
        call do_loops(n)
      end do
      call long_ranges()
      call collapsed()
      call workshare()
      call sections_and_single()
      call exclusion()
      call ordered_loop()
      call reductions(100)
    end block parallel_runs
  end subroutine body
end module constructs

program main
  use constructs
  implicit none
  call check_run(body)
end program main
