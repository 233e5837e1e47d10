#include "os/identity.h"

#include <cstdlib>
#include <new>
#include <pthread.h>

#include "arch/thread_pointer.h"
#include "base/panic.h"
#include "os/awaited_ends.h"
#include "os/futex.h"
#include "os/klt.h"
#include "os/lending_klt.h"
#include "os/storage.h"

namespace weft::os {
namespace {

enum Command : std::uint32_t { starting = 0, lending = 1, end = 2 };

// Enough for the destructors of thread-local objects, which run here when the lender ends.
constexpr std::size_t lender_stack_bytes = 64UL * 1024;

pthread_key_t lending_key;
bool has_lending_key = false;

void* lend(void* argument) {
  auto identity = static_cast<Identity*>(argument);
  identity->thread_pointer = begin_lending();
  // From here until `end`, errno and everything thread-local belongs to somebody else: nothing but
  // the two futex calls, which do not touch it.
  become_lender(*identity);
  futex_wake(identity->command, 1);
  sleep_as_lender(identity);
  return nullptr;
}

}  // namespace

void expect_lenders() {
  has_lending_key = pthread_key_create(&lending_key, [](void*) { end_for_ended_thread(); }) == 0;
  make_key_of_ends();
}

void* begin_lending() {
  unregister_rseq(arch::thread_pointer());
  if (has_lending_key) pthread_setspecific(lending_key, &lending_key);
  return arch::thread_pointer();
}

void end_lending() {
  if (has_lending_key) pthread_setspecific(lending_key, nullptr);
}

void end_for_ended_thread() {
  base::panic(
      "pthread_exit() or pthread_cancel() has ended a unit or a thread of a parallel region, and with it the kernel "
      "thread that ran it, which others need");
}

// `lending` before the flag, which tells others that they may store `end` (they acquire it): so that is not
// overwritten.
void become_lender(Identity& identity) {
  identity.command.store(lending, std::memory_order_release);
  identity.lent_by_sleeper.store(true, std::memory_order_release);
}

void sleep_as_lender(Identity* identity) {
  while (identity->command.load(std::memory_order_acquire) != end) futex_wait(identity->command, lending);
  arch::set_thread_word(nullptr);
  end_lending();
  end_as_awaited(identity->awaited);
  std::free(identity);
  note_klt_end();
}

Identity* create_lender() {
  void* memory = std::malloc(sizeof(Identity));
  if (memory == nullptr) return nullptr;
  auto identity = new (memory) Identity;
  identity->lent_by_sleeper.store(true, std::memory_order_relaxed);  // the caller may ask at once
  if (start_lending_klt<lend>(identity, lender_stack_bytes, Signals::none) != 0) {
    std::free(memory);
    return nullptr;
  }
  while (identity->command.load(std::memory_order_acquire) == starting) futex_wait(identity->command, starting);
  return identity;
}

void end_lender(Identity* identity, AwaitedEnds* awaited) {
  await_one_more(awaited);
  identity->awaited = awaited;
  identity->command.store(end, std::memory_order_release);
  futex_wake(identity->command, 1);
}

}  // namespace weft::os
