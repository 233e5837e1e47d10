// weft for C++20: what units and roots wait on. Part of the native API, included by weft/weft.hpp. weft/sync.h says
// what each operation does, weft/base.hpp what C++ adds to all of them.
#ifndef WEFT_SYNC_HPP
#define WEFT_SYNC_HPP

#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "weft/base.hpp"

namespace weft {
inline namespace WEFT_CONFIGURATION {

/// weft_mutex: a TimedLockable of the standard library. Kinds: enum weft_mutex_kind.
class Mutex {
 public:
  constexpr explicit Mutex(unsigned kind = WEFT_MUTEX_PLAIN) noexcept : it_ WEFT_MUTEX_INIT_KIND(kind) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  weft_mutex* handle() noexcept { return &it_; }

  void lock() {
    if (!try_lock()) detail::check(detail::wait([this] { return weft_mutex_lock(&it_); }));
  }
  [[nodiscard]] bool try_lock() { return detail::check_unless(WEFT_ERR_BUSY, weft_mutex_try_lock(&it_)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    return within(detail::nanoseconds(duration));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::wait_until(time, [this](std::uint64_t nanoseconds) { return within(nanoseconds); });
  }
  void unlock() { detail::check(weft_mutex_unlock(&it_)); }

 private:
  bool within(std::uint64_t nanoseconds) {
    return detail::wait_in_time([&] { return weft_mutex_timed_lock(&it_, nanoseconds); });
  }
  weft_mutex it_;
};

/// weft_cond, as std::condition_variable.
class Condition {
 public:
  constexpr Condition() noexcept = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  weft_cond* handle() noexcept { return &it_; }

  void notify_one() { detail::check(weft_cond_signal(&it_)); }
  void notify_all() { detail::check(weft_cond_broadcast(&it_)); }

  void wait(std::unique_lock<Mutex>& lock) {
    detail::check(detail::wait([&] { return weft_cond_wait(&it_, lock.mutex()->handle()); }));
  }
  template <class Predicate>
  void wait(std::unique_lock<Mutex>& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<Mutex>& lock, const std::chrono::duration<Rep, Period>& duration) {
    return status(within(lock, detail::nanoseconds(duration)));
  }
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<Mutex>& lock, const std::chrono::time_point<Clock, Duration>& time) {
    return status(detail::wait_until(time, [&](std::uint64_t nanoseconds) { return within(lock, nanoseconds); }));
  }
  /// What the predicate says in the end.
  template <class Rep, class Period, class Predicate>
  [[nodiscard]] bool wait_for(std::unique_lock<Mutex>& lock, const std::chrono::duration<Rep, Period>& duration,
                              Predicate predicate) {
    // A limit that no clock can name is none.
    if (detail::nanoseconds(duration) >= most_nanoseconds) return wait(lock, predicate), true;
    const auto limit = std::chrono::nanoseconds(static_cast<std::int64_t>(detail::nanoseconds(duration)));
    return wait_until(lock, std::chrono::steady_clock::now() + limit, predicate);
  }
  template <class Clock, class Duration, class Predicate>
  [[nodiscard]] bool wait_until(std::unique_lock<Mutex>& lock, const std::chrono::time_point<Clock, Duration>& time,
                                Predicate predicate) {
    while (!predicate())
      if (wait_until(lock, time) == std::cv_status::timeout) return predicate();
    return true;
  }

 private:
  static constexpr std::uint64_t most_nanoseconds = std::uint64_t{1} << 62U;
  static std::cv_status status(bool signalled) {
    return signalled ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  bool within(std::unique_lock<Mutex>& lock, std::uint64_t nanoseconds) {
    return detail::wait_in_time([&] { return weft_cond_timed_wait(&it_, lock.mutex()->handle(), nanoseconds); });
  }
  weft_cond it_ = WEFT_COND_INIT;
};

/// weft_rwlock, as std::shared_timed_mutex.
class SharedMutex {
 public:
  constexpr SharedMutex() noexcept = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  weft_rwlock* handle() noexcept { return &it_; }

  void lock() {
    if (!try_lock()) detail::check(detail::wait([this] { return weft_rwlock_write_lock(&it_); }));
  }
  [[nodiscard]] bool try_lock() { return detail::check_unless(WEFT_ERR_BUSY, weft_rwlock_try_write_lock(&it_)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
    return within(weft_rwlock_timed_write_lock, detail::nanoseconds(duration));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::wait_until(time,
                              [this](std::uint64_t limit) { return within(weft_rwlock_timed_write_lock, limit); });
  }
  void unlock() { detail::check(weft_rwlock_unlock(&it_)); }

  void lock_shared() {
    if (!try_lock_shared()) detail::check(detail::wait([this] { return weft_rwlock_read_lock(&it_); }));
  }
  [[nodiscard]] bool try_lock_shared() { return detail::check_unless(WEFT_ERR_BUSY, weft_rwlock_try_read_lock(&it_)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration) {
    return within(weft_rwlock_timed_read_lock, detail::nanoseconds(duration));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::wait_until(time, [this](std::uint64_t limit) { return within(weft_rwlock_timed_read_lock, limit); });
  }
  void unlock_shared() { unlock(); }

 private:
  bool within(int (*timed_lock)(weft_rwlock*, std::uint64_t), std::uint64_t nanoseconds) {
    return detail::wait_in_time([&] { return timed_lock(&it_, nanoseconds); });
  }
  weft_rwlock it_ = WEFT_RWLOCK_INIT;
};

/// weft_semaphore, as std::counting_semaphore.
class Semaphore {
 public:
  /// ARGUMENT: more than WEFT_SEMAPHORE_MAX.
  constexpr explicit Semaphore(std::uint32_t permits)
      : it_ WEFT_SEMAPHORE_INIT(detail::checked(permits, permits <= WEFT_SEMAPHORE_MAX)) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  weft_semaphore* handle() noexcept { return &it_; }
  weft_event event() noexcept { return {WEFT_EVENT_SEMAPHORE, &it_}; }

  void acquire() {
    if (!try_acquire()) detail::check(detail::wait([this] { return weft_semaphore_acquire(&it_); }));
  }
  [[nodiscard]] bool try_acquire() { return detail::check_unless(WEFT_ERR_EMPTY, weft_semaphore_try_acquire(&it_)); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& duration) {
    return within(detail::nanoseconds(duration));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::wait_until(time, [this](std::uint64_t nanoseconds) { return within(nanoseconds); });
  }
  void release(std::uint32_t permits = 1) { detail::check(weft_semaphore_release(&it_, permits)); }

 private:
  bool within(std::uint64_t nanoseconds) {
    return detail::wait_in_time([&] { return weft_semaphore_timed_acquire(&it_, nanoseconds); });
  }
  weft_semaphore it_;
};

/// weft_latch, as std::latch.
class Latch : public detail::Waitable<Latch> {
 public:
  /// ARGUMENT: more than WEFT_LATCH_MAX.
  constexpr explicit Latch(std::uint32_t count)
      : it_ WEFT_LATCH_INIT(detail::checked(count, count <= WEFT_LATCH_MAX)) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  weft_latch* handle() noexcept { return &it_; }
  weft_event event() noexcept { return {WEFT_EVENT_LATCH, &it_}; }

  void count_down(std::uint32_t by = 1) { detail::check(weft_latch_count_down(&it_, by)); }
  [[nodiscard]] bool try_wait() { return detail::check_unless(WEFT_ERR_EMPTY, weft_latch_test(&it_)); }
  /// (Bug: one that cannot wait had counted down, and failed; and who had opened it looked at what might be freed.)
  void arrive_and_wait(std::uint32_t by = 1) {
    detail::check(detail::wait([&] { return weft_latch_arrive_and_wait(&it_, by); }));
  }

 private:
  friend class detail::Waitable<Latch>;
  int timed_wait(std::uint64_t nanoseconds) { return weft_latch_timed_wait(&it_, nanoseconds); }
  weft_latch it_;
};

/// weft_barrier.
class Barrier {
 public:
  /// ARGUMENT: 0.
  constexpr explicit Barrier(std::uint32_t parties) : it_ WEFT_BARRIER_INIT(detail::checked(parties, parties != 0)) {}
  /// Nobody waits.
  ~Barrier() noexcept { detail::check(weft_barrier_destroy(&it_)); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  weft_barrier* handle() noexcept { return &it_; }

  /// True for exactly one of them.
  bool arrive_and_wait() {
    int last = 0;
    detail::check(detail::wait([&] { return weft_barrier_wait(&it_, &last); }));
    return last != 0;
  }
  /// Nothing: some did not arrive in time, and the caller has not either.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<bool> arrive_and_wait_for(const std::chrono::duration<Rep, Period>& duration) {
    return within(detail::nanoseconds(duration));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<bool> arrive_and_wait_until(const std::chrono::time_point<Clock, Duration>& time) {
    std::optional<bool> arrived;
    (void)detail::wait_until(time, [&](std::uint64_t nanoseconds) {
      arrived = within(nanoseconds);
      return arrived.has_value();
    });
    return arrived;
  }

 private:
  std::optional<bool> within(std::uint64_t nanoseconds) {
    int last = 0;
    if (!detail::wait_in_time([&] { return weft_barrier_timed_wait(&it_, nanoseconds, &last); })) return std::nullopt;
    return last != 0;
  }
  weft_barrier it_;
};

/// weft_flag.
class Flag : public detail::Waitable<Flag> {
 public:
  constexpr Flag() noexcept = default;
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  weft_flag* handle() noexcept { return &it_; }
  weft_event event() noexcept { return {WEFT_EVENT_FLAG, &it_}; }

  void set() { detail::check(weft_flag_set(&it_)); }
  void clear() { detail::check(weft_flag_clear(&it_)); }
  [[nodiscard]] bool test() { return detail::check_unless(WEFT_ERR_EMPTY, weft_flag_test(&it_)); }

 private:
  friend class detail::Waitable<Flag>;
  int timed_wait(std::uint64_t nanoseconds) { return weft_flag_timed_wait(&it_, nanoseconds); }
  weft_flag it_ = WEFT_FLAG_INIT;
};

/// weft_eventual: one value (or none: Eventual<void>) or exception, set once, for any number of readers.
template <class T>
class Eventual : public detail::Waitable<Eventual<T>> {
  static_assert(std::is_void_v<T> || std::is_nothrow_move_constructible_v<T>);

 public:
  Eventual() noexcept = default;
  Eventual(const Eventual&) = delete;
  Eventual& operator=(const Eventual&) = delete;

  weft_eventual* handle() noexcept { return &it_; }
  weft_event event() noexcept { return {WEFT_EVENT_EVENTUAL, &it_}; }

  /// From what a T is made of. STATE: it has been set already.
  template <class... Values>
  requires std::is_void_v<T> || std::constructible_from<T, Values...>
  void set(Values&&... values) {
    if constexpr (std::is_void_v<T>) {
      static_assert(sizeof...(Values) == 0);
      claim();
    } else {
      T made(std::forward<Values>(values)...);
      claim();
      outcome_.set(std::move(made));
    }
    publish();
  }
#if WEFT_HAS_EXCEPTIONS
  /// The same; get() throws it.
  void set_exception(std::exception_ptr thrown) {
    claim();
    outcome_.set_exception(std::move(thrown));
    publish();
  }
#endif
  /// Waits until it is set.
  std::add_lvalue_reference_t<T> get() {
    this->wait();
    return outcome_.get();
  }
  /// Whether it is set.
  [[nodiscard]] bool test() { return detail::check_unless(WEFT_ERR_EMPTY, weft_eventual_test(&it_, nullptr, nullptr)); }

 private:
  friend class detail::Waitable<Eventual<T>>;
  int timed_wait(std::uint64_t nanoseconds) { return weft_eventual_timed_wait(&it_, nanoseconds, nullptr, nullptr); }
  void claim() {
    if (claimed_.exchange(true, std::memory_order_relaxed)) detail::fail(WEFT_ERR_STATE);
  }
  // Last: who sees it set may free it.
  void publish() { detail::check(weft_eventual_set(&it_, nullptr, 0)); }

  weft_eventual it_ = WEFT_EVENTUAL_INIT;
  std::atomic<bool> claimed_{false};
  detail::Outcome<T> outcome_;
};

/// weft_future: several values, one from each setter. `done`, if given, is called with all of them by the last setter,
/// before anybody who waits goes on. What it throws, get() throws.
template <class T, class Done = void (*)(std::span<T>)>
class Future : public detail::Waitable<Future<T, Done>> {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  /// ARGUMENT: count 0.
  explicit Future(std::uint32_t count, Done done = Done())
      : count_(count), values_(count != 0 ? Allocator().allocate(count) : nullptr), done_(std::move(done)) {
    const int error = weft_future_init(&it_, count, nullptr, call_done, this);
    detail::check(error);
  }
  /// Those that have been set are destroyed. Nobody may be setting one.
  ~Future() {
    const std::uint64_t taken = taken_.load(std::memory_order_acquire);
    std::destroy_n(values_, taken < count_ ? taken : count_);
    Allocator().deallocate(values_, count_);
  }
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  weft_future* handle() noexcept { return &it_; }
  weft_event event() noexcept { return {WEFT_EVENT_FUTURE, &it_}; }

  /// Puts a value made of these into the next free place. STATE: all have been set.
  template <class... Values>
  requires std::constructible_from<T, Values...>
  void set(Values&&... values) {
    T made(std::forward<Values>(values)...);
    const std::uint64_t place = taken_.fetch_add(1, std::memory_order_acq_rel);
    if (place >= count_) detail::fail(WEFT_ERR_STATE);
    std::construct_at(values_ + place, std::move(made));
    detail::check(weft_future_set(&it_, nullptr));  // last: who sees all set may free it
  }
  /// Waits until all are set.
  std::span<T> get() {
    this->wait();
    outcome_.get();
    return all();
  }
  /// Whether all are set.
  [[nodiscard]] bool test() { return detail::check_unless(WEFT_ERR_EMPTY, weft_future_test(&it_)); }

 private:
  friend class detail::Waitable<Future<T, Done>>;
  using Allocator = std::allocator<T>;
  int timed_wait(std::uint64_t nanoseconds) { return weft_future_timed_wait(&it_, nanoseconds); }
  std::span<T> all() { return {values_, count_}; }
  static void call_done(void** /*values*/, std::uint32_t /*count*/, void* argument) {
    auto& self = *static_cast<Future*>(argument);
    if constexpr (std::is_pointer_v<Done>)
      if (self.done_ == nullptr) return;
    // (Bug: an exception went through weft_future_set(), and whoever waited did so for ever.)
    self.outcome_.run([&self] { std::invoke(self.done_, self.all()); });
  }

  weft_future it_{};
  const std::uint32_t count_;
  std::atomic<std::uint64_t> taken_{0};
  T* const values_;
  Done done_;
  detail::Outcome<void> outcome_;  // of `done_`
};

/// weft_select() over flags, eventuals, futures, latches and semaphores: the index of the first that has happened.
template <class... Objects>
std::size_t select(Objects&... objects) {
  const weft_event events[] = {objects.event()...};
  std::size_t which = 0;
  detail::check(detail::wait([&] { return weft_select(sizeof...(Objects), events, WEFT_FOREVER, &which); }));
  return which;
}
/// Nothing: none within that time.
template <class Rep, class Period, class... Objects>
[[nodiscard]] std::optional<std::size_t> select_for(const std::chrono::duration<Rep, Period>& duration,
                                                    Objects&... objects) {
  const weft_event events[] = {objects.event()...};
  std::size_t which = 0;
  const std::uint64_t limit = detail::nanoseconds(duration);
  if (!detail::wait_in_time([&] { return weft_select(sizeof...(Objects), events, limit, &which); }))
    return std::nullopt;
  return which;
}

}  // namespace WEFT_CONFIGURATION
}  // namespace weft

#endif
