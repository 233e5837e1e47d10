#include "os/awaited_ends.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <pthread.h>

#include "os/clock.h"
#include "os/futex.h"

namespace weft::os {
namespace {

constexpr std::uint64_t longest_ns = 10ULL * 1000 * 1000 * 1000;  // for the next one to end

pthread_key_t ends_key;
bool has_key = false;

void let_go(AwaitedEnds* ends) {
  if (ends->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(ends);
}

// What the KLT has destroyed before is destroyed for who waits: release, partner: wait_for_ends().
void say_that_it_has_ended(AwaitedEnds* ends) {
  ends->left.fetch_sub(1, std::memory_order_release);
  futex_wake(ends->left, 1);
  let_go(ends);
}

// The key's value is the address, and how many rounds have been.
#ifdef WEFT_TSAN  // in the last one it ends what it keeps of the thread, by a key that comes first
constexpr std::uintptr_t most_rounds = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#else
constexpr std::uintptr_t most_rounds = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif
static_assert(most_rounds < alignof(std::max_align_t));

bool expect_round(std::uintptr_t value) { return pthread_setspecific(ends_key, reinterpret_cast<void*>(value)) == 0; }

void end_round(void* value) {
  const std::uintptr_t next = reinterpret_cast<std::uintptr_t>(value) + 1;
  const std::uintptr_t rounds = next % alignof(std::max_align_t);
  if (rounds == most_rounds || !expect_round(next))
    say_that_it_has_ended(reinterpret_cast<AwaitedEnds*>(next - rounds));
}

}  // namespace

void make_key_of_ends() { has_key = pthread_key_create(&ends_key, end_round) == 0; }

AwaitedEnds* begin_awaiting_ends() {
  void* memory = has_key ? std::malloc(sizeof(AwaitedEnds)) : nullptr;
  return memory != nullptr ? new (memory) AwaitedEnds : nullptr;
}

void await_one_more(AwaitedEnds* ends) {
  if (ends == nullptr) return;
  ends->holders.fetch_add(1, std::memory_order_relaxed);
  ends->left.fetch_add(1, std::memory_order_relaxed);
}

void end_as_awaited(AwaitedEnds* ends) {
  if (ends != nullptr && !expect_round(reinterpret_cast<std::uintptr_t>(ends))) say_that_it_has_ended(ends);
}

void wait_for_ends(AwaitedEnds* ends) {
  if (ends == nullptr) return;
  std::uint32_t before = 0;
  std::uint64_t deadline = 0;
  for (;;) {
    const std::uint32_t left = ends->left.load(std::memory_order_acquire);
    if (left == 0) break;
    const std::uint64_t now = now_ns();
    if (left != before) {
      before = left;
      deadline = now + longest_ns;
    }
    if (now >= deadline) break;
    futex_wait_until(ends->left, left, deadline);
  }
  let_go(ends);
}

}  // namespace weft::os
