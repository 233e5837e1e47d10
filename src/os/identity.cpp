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

enum Command : std::uint32_t { starting = 0, starting_awaited = 1, lending = 2, end = 3 };

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
  sleep_as_lender(identity);
  return nullptr;
}

// Its KLT has been started, but may not have begun.
Identity* start_lender() {
  void* memory = std::malloc(sizeof(Identity));
  if (memory == nullptr) return nullptr;
  auto identity = new (memory) Identity;
  identity->lent_by_sleeper.store(true, std::memory_order_relaxed);  // the caller may ask at once
  if (start_lending_klt<lend>(identity, lender_stack_bytes, Signals::none) == 0) return identity;
  std::free(memory);
  return nullptr;
}

// Acquire: partner of become_lender().
void await_lending(Identity& identity) {
  std::uint32_t command = starting;
  if (!identity.command.compare_exchange_strong(command, starting_awaited, std::memory_order_acquire))
    return;  // it lends
  while (identity.command.load(std::memory_order_acquire) == starting_awaited)
    futex_wait(identity.command, starting_awaited);
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
// overwritten. Nobody is woken who does not wait: the kernel has few lists of sleepers for a process, and would look
// through those lenders that sleep already, which are thousands. (Bug: 10,000 took most of a second of CPU time.)
void become_lender(Identity& identity) {
  const bool is_awaited = identity.command.exchange(lending, std::memory_order_release) == starting_awaited;
  identity.lent_by_sleeper.store(true, std::memory_order_release);
  if (is_awaited) futex_wake(identity.command, 1);
}

void sleep_as_lender(Identity* identity) {
  while (identity->command.load(std::memory_order_acquire) != end) futex_wait(identity->command, lending);
  arch::set_thread_word(nullptr);
  end_lending();
  end_as_awaited(identity->awaited);
  std::free(identity);
  note_klt_end();
}

// The one that was started last is waited for first: mostly the others have begun by then.
Identity* create_lenders(unsigned count) {
  Identity* chain = nullptr;
  for (; count != 0; --count) {
    Identity* identity = start_lender();
    if (identity == nullptr) break;
    identity->next = chain;
    chain = identity;
  }
  for (Identity* each = chain; each != nullptr; each = each->next) await_lending(*each);
  return chain;
}

void end_lender(Identity* identity, AwaitedEnds* awaited) {
  await_one_more(awaited);
  identity->awaited = awaited;
  identity->command.store(end, std::memory_order_release);
  futex_wake(identity->command, 1);
}

}  // namespace weft::os
