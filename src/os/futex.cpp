#include "os/futex.h"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "arch/system_call.h"
#include "os/clock.h"

namespace weft::os {

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  arch::system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE, static_cast<long>(expected));
}

void futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t nanoseconds) {
  timespec limit = to_timespec(nanoseconds);
  arch::system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE, static_cast<long>(expected),
                    reinterpret_cast<long>(&limit));
}

void futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t deadline_ns) {
  if (deadline_ns == UINT64_MAX) {
    futex_wait(word, expected);
    return;
  }
  timespec deadline = to_timespec(deadline_ns);
  // With a bit set the time is absolute, and of CLOCK_MONOTONIC.
  arch::system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_BITSET_PRIVATE, static_cast<long>(expected),
                    reinterpret_cast<long>(&deadline), 0, static_cast<long>(FUTEX_BITSET_MATCH_ANY));
}

void nap(std::uint64_t nanoseconds) {
  std::atomic<std::uint32_t> nobody{0};
  futex_wait_for(nobody, 0, nanoseconds);
}

void futex_wake(std::atomic<std::uint32_t>& word, int count) {
  arch::system_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE, count);
}

void give_up_cpu() { arch::system_call(SYS_sched_yield); }

}  // namespace weft::os
