#include "core/identities.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/klt_pools.h"
#include "core/preempt.h"
#include "core/segment.h"

namespace weft::core {

bool identities_enabled = !sanitizer::active;

namespace {

constexpr unsigned most_spares = 16;
constexpr unsigned most_at_once = 64;  // are made: nothing interrupts who does that

Spinlock shared_lock;
os::Identity* shared_spares = nullptr;
std::atomic<bool> told{false};
std::atomic<unsigned> wanted{0};

os::Identity* take_shared() {
  SpinGuard guard(shared_lock);
  os::Identity* identity = shared_spares;
  if (identity != nullptr) shared_spares = identity->next;
  return identity;
}

void share(os::Identity* identity) {
  SpinGuard guard(shared_lock);
  identity->next = shared_spares;
  shared_spares = identity;
}

void share_chain(os::Identity* first) {
  if (first == nullptr) return;
  os::Identity* last = first;
  while (last->next != nullptr) last = last->next;
  SpinGuard guard(shared_lock);
  last->next = shared_spares;
  shared_spares = first;
}

// All but the first `kept` of the worker's.
void share_spares(Worker& worker, unsigned kept) {
  os::Identity** end = &worker.identities.spares;
  for (unsigned index = 0; index < kept && *end != nullptr; ++index) end = &(*end)->next;
  os::Identity* first = *end;
  if (first == nullptr) return;
  *end = nullptr;
  worker.identities.spare_count = kept;
  share_chain(first);
}

// The first one of a chain that suits; nullptr: there is none.
template <class Suits>
os::Identity* unlink(os::Identity*& chain, Suits suits) {
  os::Identity** link = &chain;
  while (*link != nullptr && !suits(**link)) link = &(*link)->next;
  os::Identity* found = *link;
  if (found != nullptr) *link = found->next;
  return found;
}

template <class Suits>
os::Identity* unlink_free(Worker& worker, Suits suits) {
  if (os::Identity* found = unlink(worker.identities.spares, suits); found != nullptr) {
    --worker.identities.spare_count;
    return found;
  }
  SpinGuard guard(shared_lock);
  return unlink(shared_spares, suits);
}

void keep_as_spare(Worker& worker, os::Identity* identity) {
  identity->next = worker.identities.spares;
  worker.identities.spares = identity;
  ++worker.identities.spare_count;
}

os::Identity* take_free(Worker& worker) {
  os::Identity* identity = worker.identities.spares;
  if (identity == nullptr) return take_shared();
  worker.identities.spares = identity->next;
  --worker.identities.spare_count;
  return identity;
}

// A chain of `count` at most; nullptr if none can be had.
os::Identity* make_identities(unsigned count) {
  const HeldOff held;
  os::Identity* made = with_room([count] { return os::create_lenders(std::min(count, most_at_once)); });
  if (made == nullptr && !told.exchange(true, std::memory_order_relaxed))
    base::warn(
        "no further thread can be had (ulimit -u, pids.max, vm.max_map_count): some threads of the program share "
        "thread-local storage (errno, __thread, threadprivate) with others while they wait");
  return made;
}

}  // namespace

os::Identity* take_identity(Worker& worker) {
  os::Identity* identity = take_free(worker);
  return identity != nullptr ? identity : make_identities(1);
}

void take_identities(Worker& worker, os::Identity** identities, unsigned count) {
  os::Identity* made = nullptr;
  for (; count != 0; --count, ++identities) {
    *identities = made != nullptr ? made : take_free(worker);
    if (*identities == nullptr) *identities = made = make_identities(count);
    if (made != nullptr) made = made->next;
  }
}

bool take_identity_back(Worker& worker, os::Identity* identity) {
  return unlink_free(worker, [identity](const os::Identity& free) { return &free == identity; }) != nullptr;
}

void give_identity(Worker& worker, os::Identity* identity) {
  identity->has_mask = false;
  identity->pending = 0;
  if (worker.identities.spare_count == most_spares) share_spares(worker, most_spares / 2);
  keep_as_spare(worker, identity);
}

void leave_identities_to_others(Worker& worker) {
  if (worker.identities.spares != nullptr) share_spares(worker, 0);
}

bool take_spare_in_handler(Worker& worker) {
  if (!shared_lock.try_lock()) return false;
  os::Identity* identity = shared_spares;
  if (identity != nullptr) shared_spares = identity->next;
  shared_lock.unlock();
  if (identity == nullptr) return false;
  keep_as_spare(worker, identity);
  return true;
}

os::Identity* new_identity() {
  void* memory = std::malloc(sizeof(os::Identity));
  return memory != nullptr ? new (memory) os::Identity : nullptr;
}

void offer_identity_of_this_klt() {
  os::Identity* identity = new_identity();
  if (identity == nullptr) return;
  identity->thread_pointer = arch::thread_pointer();
  share(identity);
}

void want_identity() { wanted.fetch_add(1, std::memory_order_relaxed); }

void make_wanted_identities() {
  const unsigned count = wanted.exchange(0, std::memory_order_relaxed);
  share_chain(os::create_lenders(std::min(count, most_at_once)));
}

void end_identity(Worker& worker, os::Identity* identity, os::AwaitedEnds* awaited) {
  if (identity->lent_by_sleeper)
    os::end_lender(identity, awaited);
  else
    give_identity(worker, identity);  // of a KLT that lives on
}

void end_or_share_identity(os::Identity* identity, os::AwaitedEnds* awaited) {
  if (identity->lent_by_sleeper)
    os::end_lender(identity, awaited);
  else
    share(identity);
}

void end_shared_identities(os::AwaitedEnds* awaited) {
  os::Identity* chain = nullptr;
  {
    SpinGuard guard(shared_lock);
    chain = shared_spares;
    shared_spares = nullptr;
  }
  while (chain != nullptr) {
    os::Identity* next = chain->next;
    end_or_share_identity(chain, awaited);
    chain = next;
  }
}

void end_free_lender(Worker& worker) {
  os::Identity* lender = unlink_free(
      worker, [](const os::Identity& free) { return free.lent_by_sleeper.load(std::memory_order_acquire); });
  if (lender != nullptr) os::end_lender(lender);
}

bool ensure_own_identity(Worker& worker) {
  worker.identities.own = take_identity(worker);
  return worker.identities.own != nullptr;
}

void keep_identity_slowly(Worker& worker, Unit& unit) {
  if (details(unit).identity == nullptr && worker.identities.own != nullptr) {
    // A KLT of weft's schedules on its own; a root can do without until it runs the next unit, unless that may hold a
    // KLT (klt_switch.cpp).
    const bool can_do_without = worker.identities.home != nullptr && count_klts().made == 0;
    os::Identity* another = can_do_without ? nullptr : take_identity(worker);
    if (another != nullptr || can_do_without) {
      details(unit).identity = worker.identities.own;
      worker.identities.own = another;
      ++worker.counters.promoted_to_identity;
    }
  }
  install_home(worker);
}

void drop_identity_slowly(Worker& worker, Unit& unit) {
  install_home(worker);
  if (details(unit).identity != nullptr && !details(unit).keeps_identity) {
    give_identity(worker, details(unit).identity);
    details(unit).identity = nullptr;
  }
}

void forget_identities() {
  shared_lock.unlock();
  shared_spares = nullptr;
  told.store(false, std::memory_order_relaxed);
  wanted.store(0, std::memory_order_relaxed);
}

}  // namespace weft::core
