// Sleeping and waking in the kernel. No call touches errno: lenders use them.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::os {

/// Sleeps while `word` holds `expected`. May return early; callers loop.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected);

/// The same, for at most so many nanoseconds.
void futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t nanoseconds);

/// The same, until `deadline_ns` of os::now_ns() at the latest (UINT64_MAX: for ever).
void futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t deadline_ns);

/// Sleeps for so long, or a little less.
void nap(std::uint64_t nanoseconds);

/// Wakes at most `count` sleepers on `word`.
void futex_wake(std::atomic<std::uint32_t>& word, int count);

/// Lets the kernel run something else on this CPU. Not libc's sched_yield(): code that is found in
/// there may be left (os/interrupt.h), weft's own must not.
void give_up_cpu();

}  // namespace weft::os
