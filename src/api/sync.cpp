// include/weft/sync.h over core/sync: names, errors and layouts, nothing else.
#include "weft/sync.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "core/scheduler.h"
#include "core/sync/any_mutex.h"
#include "core/sync/barrier.h"
#include "core/sync/condition.h"
#include "core/sync/eventual.h"
#include "core/sync/flag.h"
#include "core/sync/future.h"
#include "core/sync/latch.h"
#include "core/sync/rwlock.h"
#include "core/sync/select.h"
#include "core/sync/semaphore.h"

namespace core = weft::core;

namespace {

// Which class of the core stands behind a struct of the header.
template <class C>
struct Behind;
// clang-format off
template <> struct Behind<weft_mutex> { using Type = core::AnyMutex; };
template <> struct Behind<weft_cond> { using Type = core::Condition; };
template <> struct Behind<weft_barrier> { using Type = core::Barrier; };
template <> struct Behind<weft_rwlock> { using Type = core::RwLock; };
template <> struct Behind<weft_semaphore> { using Type = core::Semaphore; };
template <> struct Behind<weft_latch> { using Type = core::Latch; };
template <> struct Behind<weft_flag> { using Type = core::Flag; };
template <> struct Behind<weft_eventual> { using Type = core::Eventual; };
template <> struct Behind<weft_future> { using Type = core::Future; };
// clang-format on

template <class C>
auto& core_of(C* object) {
  using Type = typename Behind<std::remove_const_t<C>>::Type;
  static_assert(sizeof(Type) == sizeof(C));
  static_assert(alignof(Type) <= alignof(C));
  if constexpr (std::is_const_v<C>)
    return *reinterpret_cast<const Type*>(object);
  else
    return *reinterpret_cast<Type*>(object);
}

template <class C, class... Arguments>
int make(C* object, Arguments... arguments) {
  if (object == nullptr) return WEFT_ERR_ARGUMENT;
  new (&core_of(object)) typename Behind<C>::Type(arguments...);
  return WEFT_OK;
}

bool anybody_waits(const core::ParkPlace& place) { return !core::Waiters(place.address).empty(); }

int ok_or(bool done, int error) { return done ? WEFT_OK : error; }

// Whether the caller, who could not have it at once, may wait for it so long.
int check_wait(std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return WEFT_ERR_TIMEOUT;
  if (!core::may_wait(core::this_unit())) return WEFT_ERR_STACKLESS;
  return ok_or(nanoseconds == WEFT_FOREVER || core::serves_deadlines(), WEFT_ERR_LIMIT);
}

std::uint64_t deadline(std::uint64_t nanoseconds) {
  return nanoseconds == WEFT_FOREVER ? core::never : core::deadline_after(nanoseconds);
}

template <class Wait>
int wait_for(std::uint64_t nanoseconds, Wait wait_until) {
  if (const int error = check_wait(nanoseconds); error != WEFT_OK) return error;
  return ok_or(wait_until(deadline(nanoseconds)), WEFT_ERR_TIMEOUT);
}

// A recursive mutex is released wholly while its holder waits on a condition.
struct Wholly {
  core::AnyMutex& mutex;
  std::uint32_t depth = 0;
  void unlock() { depth = mutex.unlock_wholly(); }
  core::Mutex* plain() { return mutex.plain(); }
  void lock() { mutex.lock_wholly(depth); }
};

}  // namespace

extern "C" {

// ---------------------------------------------------------------- mutex

static_assert(WEFT_MUTEX_RECURSIVE == static_cast<int>(core::recursive_mutex));
static_assert(WEFT_MUTEX_FAIR == static_cast<int>(core::fair_mutex));

int weft_mutex_init(weft_mutex* mutex, unsigned kind) {
  if ((kind & ~static_cast<unsigned>(WEFT_MUTEX_RECURSIVE | WEFT_MUTEX_FAIR)) != 0) return WEFT_ERR_ARGUMENT;
  return make(mutex, kind);
}

int weft_mutex_destroy(weft_mutex* mutex) {
  if (mutex == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!core_of(mutex).held(), WEFT_ERR_BUSY);
}

int weft_mutex_lock(weft_mutex* mutex) { return weft_mutex_timed_lock(mutex, WEFT_FOREVER); }

int weft_mutex_try_lock(weft_mutex* mutex) {
  if (mutex == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(mutex).try_lock(), WEFT_ERR_BUSY);
}

int weft_mutex_timed_lock(weft_mutex* mutex, uint64_t nanoseconds) {
  if (mutex == nullptr) return WEFT_ERR_ARGUMENT;
  core::AnyMutex& it = core_of(mutex);
  if (it.try_lock()) [[likely]]
    return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.try_lock_until(until); });
}

int weft_mutex_unlock(weft_mutex* mutex) {
  if (mutex == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(mutex).unlock(), WEFT_ERR_OWNER);
}

// ---------------------------------------------------------------- condition variable

int weft_cond_init(weft_cond* cond) { return make(cond); }

int weft_cond_destroy(weft_cond* cond) {
  if (cond == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!core_of(cond).awaited(), WEFT_ERR_BUSY);
}

int weft_cond_wait(weft_cond* cond, weft_mutex* mutex) { return weft_cond_timed_wait(cond, mutex, WEFT_FOREVER); }

int weft_cond_timed_wait(weft_cond* cond, weft_mutex* mutex, uint64_t nanoseconds) {
  if (cond == nullptr || mutex == nullptr) return WEFT_ERR_ARGUMENT;
  if (!core_of(mutex).may_be_mine()) return WEFT_ERR_OWNER;
  return wait_for(nanoseconds, [&](std::uint64_t until) {
    Wholly held{core_of(mutex)};
    return core_of(cond).wait_until(held, until);
  });
}

int weft_cond_signal(weft_cond* cond) {
  if (cond == nullptr) return WEFT_ERR_ARGUMENT;
  core_of(cond).notify_one();
  return WEFT_OK;
}

int weft_cond_broadcast(weft_cond* cond) {
  if (cond == nullptr) return WEFT_ERR_ARGUMENT;
  core_of(cond).notify_all();
  return WEFT_OK;
}

// ---------------------------------------------------------------- barrier

int weft_barrier_init(weft_barrier* barrier, uint32_t parties) {
  return parties != 0 ? make(barrier, parties) : WEFT_ERR_ARGUMENT;
}

int weft_barrier_destroy(weft_barrier* barrier) {
  if (barrier == nullptr) return WEFT_ERR_ARGUMENT;
  core::Barrier& it = core_of(barrier);
  if (it.arrived() != 0) return WEFT_ERR_BUSY;
  it.give_back();
  return WEFT_OK;
}

int weft_barrier_wait(weft_barrier* barrier, int* last) { return weft_barrier_timed_wait(barrier, WEFT_FOREVER, last); }

int weft_barrier_timed_wait(weft_barrier* barrier, uint64_t nanoseconds, int* last) {
  if (barrier == nullptr || core_of(barrier).parties() == 0) return WEFT_ERR_ARGUMENT;
  core::Barrier& it = core_of(barrier);
  auto outcome = core::Barrier::Outcome::passed_last;
  if (const int error = check_wait(nanoseconds); error != WEFT_OK) {
    if (!it.try_arrive_last()) return error;
  } else {
    outcome = it.wait_until(deadline(nanoseconds));
    if (outcome == core::Barrier::Outcome::timed_out) return WEFT_ERR_TIMEOUT;
  }
  if (last != nullptr) *last = outcome == core::Barrier::Outcome::passed_last ? 1 : 0;
  return WEFT_OK;
}

// ---------------------------------------------------------------- readers-writer lock

int weft_rwlock_init(weft_rwlock* lock) { return make(lock); }

int weft_rwlock_destroy(weft_rwlock* lock) {
  if (lock == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!core_of(lock).held(), WEFT_ERR_BUSY);
}

int weft_rwlock_read_lock(weft_rwlock* lock) { return weft_rwlock_timed_read_lock(lock, WEFT_FOREVER); }
int weft_rwlock_write_lock(weft_rwlock* lock) { return weft_rwlock_timed_write_lock(lock, WEFT_FOREVER); }

int weft_rwlock_try_read_lock(weft_rwlock* lock) {
  if (lock == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(lock).try_lock_shared(), WEFT_ERR_BUSY);
}

int weft_rwlock_try_write_lock(weft_rwlock* lock) {
  if (lock == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(lock).try_lock(), WEFT_ERR_BUSY);
}

int weft_rwlock_timed_read_lock(weft_rwlock* lock, uint64_t nanoseconds) {
  if (lock == nullptr) return WEFT_ERR_ARGUMENT;
  core::RwLock& it = core_of(lock);
  if (it.try_lock_shared()) return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.try_lock_shared_until(until); });
}

int weft_rwlock_timed_write_lock(weft_rwlock* lock, uint64_t nanoseconds) {
  if (lock == nullptr) return WEFT_ERR_ARGUMENT;
  core::RwLock& it = core_of(lock);
  if (it.try_lock()) return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.try_lock_until(until); });
}

int weft_rwlock_unlock(weft_rwlock* lock) {
  if (lock == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(lock).unlock(), WEFT_ERR_OWNER);
}

// ---------------------------------------------------------------- semaphore

static_assert(WEFT_SEMAPHORE_MAX == core::Semaphore::most_permits);

int weft_semaphore_init(weft_semaphore* semaphore, uint32_t permits) {
  return permits <= WEFT_SEMAPHORE_MAX ? make(semaphore, permits) : WEFT_ERR_ARGUMENT;
}

int weft_semaphore_destroy(weft_semaphore* semaphore) {
  if (semaphore == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!anybody_waits(core_of(semaphore).place()), WEFT_ERR_BUSY);
}

int weft_semaphore_acquire(weft_semaphore* semaphore) { return weft_semaphore_timed_acquire(semaphore, WEFT_FOREVER); }

int weft_semaphore_try_acquire(weft_semaphore* semaphore) {
  if (semaphore == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(semaphore).try_acquire(), WEFT_ERR_EMPTY);
}

int weft_semaphore_timed_acquire(weft_semaphore* semaphore, uint64_t nanoseconds) {
  if (semaphore == nullptr) return WEFT_ERR_ARGUMENT;
  core::Semaphore& it = core_of(semaphore);
  if (it.try_acquire()) return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.try_acquire_until(until); });
}

int weft_semaphore_release(weft_semaphore* semaphore, uint32_t permits) {
  if (semaphore == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(semaphore).release(permits), WEFT_ERR_LIMIT);
}

int weft_semaphore_count(const weft_semaphore* semaphore, uint32_t* permits) {
  if (semaphore == nullptr || permits == nullptr) return WEFT_ERR_ARGUMENT;
  *permits = core_of(semaphore).permits();
  return WEFT_OK;
}

// ---------------------------------------------------------------- latch

static_assert(WEFT_LATCH_MAX == core::Latch::most);

int weft_latch_init(weft_latch* latch, uint32_t count) {
  return count <= WEFT_LATCH_MAX ? make(latch, count) : WEFT_ERR_ARGUMENT;
}

int weft_latch_destroy(weft_latch* latch) {
  if (latch == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!anybody_waits(core_of(latch).place()), WEFT_ERR_BUSY);
}

int weft_latch_count_down(weft_latch* latch, uint32_t by) {
  if (latch == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(latch).count_down(by), WEFT_ERR_STATE);
}

int weft_latch_wait(weft_latch* latch) { return weft_latch_timed_wait(latch, WEFT_FOREVER); }

int weft_latch_timed_wait(weft_latch* latch, uint64_t nanoseconds) {
  if (latch == nullptr) return WEFT_ERR_ARGUMENT;
  core::Latch& it = core_of(latch);
  if (it.is_open()) return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.wait_until(until); });
}

int weft_latch_arrive_and_wait(weft_latch* latch, uint32_t by) {
  if (latch == nullptr) return WEFT_ERR_ARGUMENT;
  core::Latch& it = core_of(latch);
  // It only ever goes down: who is the last now does not wait.
  if (it.count() > by && !core::may_wait(core::this_unit())) return WEFT_ERR_STACKLESS;
  return ok_or(it.arrive_and_wait(by), WEFT_ERR_STATE);
}

int weft_latch_test(weft_latch* latch) {
  if (latch == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(latch).is_open(), WEFT_ERR_EMPTY);
}

// ---------------------------------------------------------------- flag

int weft_flag_init(weft_flag* flag) { return make(flag); }

int weft_flag_destroy(weft_flag* flag) {
  if (flag == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!anybody_waits(core_of(flag).place()), WEFT_ERR_BUSY);
}

int weft_flag_set(weft_flag* flag) {
  if (flag == nullptr) return WEFT_ERR_ARGUMENT;
  core_of(flag).set();
  return WEFT_OK;
}

int weft_flag_clear(weft_flag* flag) {
  if (flag == nullptr) return WEFT_ERR_ARGUMENT;
  core_of(flag).clear();
  return WEFT_OK;
}

int weft_flag_wait(weft_flag* flag) { return weft_flag_timed_wait(flag, WEFT_FOREVER); }

int weft_flag_timed_wait(weft_flag* flag, uint64_t nanoseconds) {
  if (flag == nullptr) return WEFT_ERR_ARGUMENT;
  core::Flag& it = core_of(flag);
  if (it.is_set()) return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.wait_until(until); });
}

int weft_flag_test(weft_flag* flag) {
  if (flag == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(flag).is_set(), WEFT_ERR_EMPTY);
}

// ---------------------------------------------------------------- eventual

int weft_eventual_init(weft_eventual* eventual, void* buffer, size_t capacity) {
  return make(eventual, buffer, capacity);
}

int weft_eventual_destroy(weft_eventual* eventual) {
  if (eventual == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!anybody_waits(core_of(eventual).ready().place()), WEFT_ERR_BUSY);
}

int weft_eventual_set(weft_eventual* eventual, const void* value, size_t size) {
  if (eventual == nullptr) return WEFT_ERR_ARGUMENT;
  core::Eventual& it = core_of(eventual);
  if (size > it.capacity() || (it.copies() && value == nullptr && size != 0)) return WEFT_ERR_ARGUMENT;
  return ok_or(it.set(value, size), WEFT_ERR_STATE);
}

int weft_eventual_wait(weft_eventual* eventual, void** value, size_t* size) {
  return weft_eventual_timed_wait(eventual, WEFT_FOREVER, value, size);
}

int weft_eventual_timed_wait(weft_eventual* eventual, uint64_t nanoseconds, void** value, size_t* size) {
  if (eventual == nullptr) return WEFT_ERR_ARGUMENT;
  core::Eventual& it = core_of(eventual);
  if (!it.is_set()) {
    const int error = wait_for(nanoseconds, [&it](std::uint64_t until) { return it.wait_until(until); });
    if (error != WEFT_OK) return error;
  }
  if (value != nullptr) *value = it.value();
  if (size != nullptr) *size = it.size();
  return WEFT_OK;
}

int weft_eventual_test(weft_eventual* eventual, void** value, size_t* size) {
  const int error = weft_eventual_timed_wait(eventual, 0, value, size);
  return error == WEFT_ERR_TIMEOUT ? WEFT_ERR_EMPTY : error;
}

int weft_eventual_reset(weft_eventual* eventual) {
  if (eventual == nullptr) return WEFT_ERR_ARGUMENT;
  core_of(eventual).reset();
  return WEFT_OK;
}

// ---------------------------------------------------------------- future

int weft_future_init(weft_future* future, uint32_t count, void** values, weft_future_callback callback,
                     void* argument) {
  return count != 0 ? make(future, count, values, callback, argument) : WEFT_ERR_ARGUMENT;
}

int weft_future_destroy(weft_future* future) {
  if (future == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(!anybody_waits(core_of(future).ready().place()), WEFT_ERR_BUSY);
}

int weft_future_set(weft_future* future, void* value) {
  if (future == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(future).set(value), WEFT_ERR_STATE);
}

int weft_future_wait(weft_future* future) { return weft_future_timed_wait(future, WEFT_FOREVER); }

int weft_future_timed_wait(weft_future* future, uint64_t nanoseconds) {
  if (future == nullptr) return WEFT_ERR_ARGUMENT;
  core::Future& it = core_of(future);
  if (it.is_ready()) return WEFT_OK;
  return wait_for(nanoseconds, [&it](std::uint64_t until) { return it.wait_until(until); });
}

int weft_future_test(weft_future* future) {
  if (future == nullptr) return WEFT_ERR_ARGUMENT;
  return ok_or(core_of(future).is_ready(), WEFT_ERR_EMPTY);
}

int weft_future_reset(weft_future* future) {
  if (future == nullptr) return WEFT_ERR_ARGUMENT;
  core_of(future).reset();
  return WEFT_OK;
}

// ---------------------------------------------------------------- select

}  // extern "C"

namespace {

// False: it is none.
bool translate(const weft_event& event, core::Event& result) {
  if (event.object == nullptr) return false;
  switch (event.kind) {
    case WEFT_EVENT_FLAG:
      result = core::Event(core_of(static_cast<weft_flag*>(event.object)));
      return true;
    case WEFT_EVENT_EVENTUAL:
      result = core::Event(core_of(static_cast<weft_eventual*>(event.object)).ready());
      return true;
    case WEFT_EVENT_FUTURE:
      result = core::Event(core_of(static_cast<weft_future*>(event.object)).ready());
      return true;
    case WEFT_EVENT_LATCH:
      result = core::Event(core_of(static_cast<weft_latch*>(event.object)));
      return true;
    case WEFT_EVENT_SEMAPHORE:
      result = core::Event(core_of(static_cast<weft_semaphore*>(event.object)));
      return true;
  }
  return false;
}

int select_in(core::Event* translated, core::ParkPlace* places, std::uint32_t count, const weft_event* events,
              std::uint64_t nanoseconds, size_t* which) {
  for (std::uint32_t index = 0; index < count; ++index)
    if (!translate(events[index], translated[index])) return WEFT_ERR_ARGUMENT;
  std::uint32_t found = core::poll_any(translated, count);
  if (found == count) {
    const int error = wait_for(nanoseconds, [&](std::uint64_t until) {
      found = core::wait_any(translated, places, count, until);
      return found != count;
    });
    if (error != WEFT_OK) return error;
  }
  *which = found;
  return WEFT_OK;
}

}  // namespace

extern "C" int weft_select(size_t count, const weft_event* events, uint64_t nanoseconds, size_t* which) {
  if (count == 0 || count > UINT32_MAX || events == nullptr || which == nullptr) return WEFT_ERR_ARGUMENT;
  const auto number = static_cast<std::uint32_t>(count);
  constexpr std::uint32_t few = 8;
  if (number <= few) {
    core::Event translated[few];
    core::ParkPlace places[few] = {};
    return select_in(translated, places, number, events, nanoseconds, which);
  }
  auto places = static_cast<core::ParkPlace*>(std::calloc(number, sizeof(core::ParkPlace) + sizeof(core::Event)));
  if (places == nullptr) return WEFT_ERR_MEMORY;
  auto translated = reinterpret_cast<core::Event*>(places + number);
  const int error = select_in(translated, places, number, events, nanoseconds, which);
  std::free(places);
  return error;
}
