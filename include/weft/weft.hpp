// weft: threads that start as function calls. The native API for C++20, header-only, over weft/weft.h and
// weft/sync.h, which say what each operation does; this file and those it includes say what C++ adds: weft/sync.hpp has
// what units wait on, weft/base.hpp errors, and how waiting and exceptions go together.
//
// What it adds, and nothing else: lifetimes (RAII), types (units run any callable and hand back what it returns),
// exceptions (of a unit, carried to who joins it; errors as weft::Error), std::chrono, and names that the standard
// library's templates know (std::lock_guard, std::unique_lock, std::scoped_lock, std::shared_lock). What C++ does not
// make better, the C functions do: every class here has handle() for them, e.g. weft_unit_cancel(unit.handle()).
#ifndef WEFT_WEFT_HPP
#define WEFT_WEFT_HPP

#if __cplusplus < 202002L
#error "weft/weft.hpp needs C++20 (-std=c++20); weft/weft.h does for every C++"
#else

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/base.hpp"
#include "weft/sync.hpp"

namespace weft {
inline namespace WEFT_CONFIGURATION {
namespace detail {

/// A callable that is not small, and its outcome.
template <class T>
struct Task {
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;
  Outcome<T> outcome;
};

template <class T, class Callable>
struct TaskOf final : Task<T> {
  template <class Given>
  explicit TaskOf(Given&& given) : given_(std::forward<Given>(given)) {}
  /// The callable is destroyed by the unit, when it has run.
  static void run(void* argument) {
    auto& self = *static_cast<TaskOf*>(argument);
    self.outcome.run([&self]() -> T {
      Callable callable(std::move(self.given_));
      return std::invoke(std::move(callable));
    });
  }

 private:
  Callable given_;
};

/// Small callables travel in the unit's argument, without an allocation.
template <class Callable>
inline constexpr bool is_small = sizeof(Callable) <= sizeof(void*) && alignof(Callable) <= alignof(void*) &&
                                 std::is_trivially_copyable_v<Callable>&& std::is_trivially_destructible_v<Callable>;

template <class Callable>
void* pack(const Callable& callable) {
  void* argument = nullptr;
  std::memcpy(&argument, std::addressof(callable), sizeof callable);
  return argument;
}

template <class Callable>
void run_packed(void* argument) {
  std::invoke(std::move(*std::launder(reinterpret_cast<Callable*>(&argument))));
}

#if WEFT_HAS_EXCEPTIONS
/// What units without a Task have thrown. The rare side pays: who joins one looks at a counter.
class Thrown {
 public:
  void put(weft_unit* unit, std::exception_ptr what) {
    const Guard guard(lock_);
    first_ = new Entry{unit, std::move(what), first_};
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  /// The unit is done, so what it has put is seen.
  std::exception_ptr take(const weft_unit* unit) {
    if (count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return nullptr;
    const Guard guard(lock_);
    for (Entry** link = &first_; *link != nullptr; link = &(*link)->next) {
      if ((*link)->unit != unit) continue;
      const std::unique_ptr<Entry> entry(*link);
      *link = entry->next;
      count_.fetch_sub(1, std::memory_order_relaxed);
      return std::move(entry->what);
    }
    return nullptr;
  }

 private:
  struct Entry {
    weft_unit* unit;
    std::exception_ptr what;
    Entry* next;
  };
  /// Holds the lock, and is not preempted meanwhile: another unit would wait for it on this very KLT. (Bug: it was, and
  /// the worker stood still for ever.)
  class Guard {
   public:
    explicit Guard(std::mutex& lock) : held_off_(weft_preempt_disable() == WEFT_OK), lock_(lock) { lock_.lock(); }
    ~Guard() {
      lock_.unlock();
      if (held_off_) (void)detail::wait(weft_preempt_enable);  // which may yield, in a handler
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    const bool held_off_;  // else it has been so for too often already
    std::mutex& lock_;
  };
  std::atomic<std::size_t> count_{0};
  std::mutex lock_;  // of the system: a stackless unit may throw, too
  Entry* first_ = nullptr;
};
inline Thrown thrown;
#endif

template <class Callable>
void run_small(void* argument) noexcept {
#if WEFT_HAS_EXCEPTIONS
  try {
    run_packed<Callable>(argument);
  } catch (...) {
    thrown.put(weft_unit_self(), std::current_exception());
  }
#else
  run_packed<Callable>(argument);
#endif
}

/// A handle's destructor has joined what has thrown: only an exception that is under way already may hide it.
inline void drop_exception() noexcept {
  if (std::uncaught_exceptions() == 0) std::terminate();
}

}  // namespace detail

// ---------------------------------------------------------------- runtime

/// weft_init() and weft_finalize().
class Runtime {
 public:
  Runtime() { detail::check(weft_init()); }
  ~Runtime() { (void)weft_finalize(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// ---------------------------------------------------------------- units

/// weft_unit_attr, for designated initialisers: spawn({.technique = WEFT_FULL_L, .name = "reader"}, read).
struct Attributes {
  weft_technique technique = WEFT_AUTO;
  std::size_t stack_size = 0;
  void* stack = nullptr;
  weft_pool* pool = nullptr;
  int priority = 0;
  unsigned flags = 0;
  const char* name = nullptr;
  weft_preemption preemption = WEFT_PREEMPT_DEFAULT;
  weft_worker* worker = nullptr;

  weft_unit_attr get() const { return {technique, stack_size, stack, pool, priority, flags, name, preemption, worker}; }
};
static_assert(sizeof(Attributes) == sizeof(weft_unit_attr));

/// A unit that somebody joins: what spawn() returns. Like std::jthread it can be moved and joins in its destructor;
/// like std::future it hands on what the callable has returned or thrown.
///
/// A unit that ends by weft_unit_exit() or is cancelled leaves its stack without running destructors; it has no result.
template <class T = void>
class [[nodiscard]] Unit : public detail::Waitable<Unit<T>> {
 public:
  /// None.
  Unit() noexcept = default;
  Unit(Unit&& other) noexcept : unit_(std::exchange(other.unit_, nullptr)), task_(std::move(other.task_)) {}
  /// Joins the one that it was.
  Unit& operator=(Unit&& other) noexcept {
    if (this == &other) return *this;
    end();
    unit_ = std::exchange(other.unit_, nullptr);
    task_ = std::move(other.task_);
    return *this;
  }
  /// Joins it. If it has thrown, and nobody has joined it: std::terminate(), but where an exception is under way
  /// already.
  ~Unit() { end(); }

  /// Whether there is one.
  bool joinable() const noexcept { return unit_ != nullptr; }
  weft_unit* handle() const noexcept { return unit_; }

  /// Waits until the unit is done, frees it, and returns what it has returned or throws what it has thrown. Errors: of
  /// weft_unit_join(); STATE: there is none, or it has no result. wait_for() and wait_until() only wait.
  T join() {
    this->wait();
    const Joined joined(*this);
    return joined.task != nullptr ? joined.task->outcome.take() : joined.end_small();
  }

 private:
  friend class detail::Waitable<Unit<T>>;
  template <class U, class Callable>
  friend Unit<U> spawn_as(const Attributes& attributes, Callable&& callable);

  /// Takes over what is done; the unit is freed, and what it has thrown kept.
  struct Joined {
    explicit Joined(Unit& from) : task(std::move(from.task_)) {
      weft_unit* unit = std::exchange(from.unit_, nullptr);
#if WEFT_HAS_EXCEPTIONS
      if (task == nullptr) thrown = detail::thrown.take(unit);
#endif
      (void)weft_unit_free(unit);
    }
    bool has_thrown() const {
#if WEFT_HAS_EXCEPTIONS
      if (thrown != nullptr) return true;
#endif
      return task != nullptr && task->outcome.has_thrown();
    }
    T end_small() const {
      if constexpr (std::is_void_v<T>) {
#if WEFT_HAS_EXCEPTIONS
        if (thrown != nullptr) std::rethrow_exception(thrown);
#endif
      } else {
        detail::fail(WEFT_ERR_STATE);
      }
    }
    std::unique_ptr<detail::Task<T>> task;
#if WEFT_HAS_EXCEPTIONS
    std::exception_ptr thrown;
#endif
  };

  int timed_wait(std::uint64_t nanoseconds) {
    return unit_ != nullptr ? weft_unit_timed_join(unit_, nanoseconds) : WEFT_ERR_STATE;
  }
  void end() noexcept {
    if (unit_ == nullptr) return;
    this->wait();
    if (Joined(*this).has_thrown()) detail::drop_exception();
  }

  weft_unit* unit_ = nullptr;
  std::unique_ptr<detail::Task<T>> task_;
};

template <class T, class Callable>
Unit<T> spawn_as(const Attributes& attributes, Callable&& callable) {
  using Kept = std::decay_t<Callable>;
  const weft_unit_attr attr = attributes.get();
  Unit<T> made;
  if constexpr (std::is_void_v<T> && detail::is_small<Kept>) {
    const Kept kept(std::forward<Callable>(callable));
    detail::check(detail::wait(
        [&] { return weft_unit_create(detail::run_small<Kept>, detail::pack(kept), &attr, &made.unit_); }));
  } else {
    auto task = std::make_unique<detail::TaskOf<T, Kept>>(std::forward<Callable>(callable));
    detail::check(
        detail::wait([&] { return weft_unit_create(detail::TaskOf<T, Kept>::run, task.get(), &attr, &made.unit_); }));
    made.task_ = std::move(task);
  }
  return made;
}

/// A unit that calls a copy of `callable`, without arguments. The copy, where it is no larger than a pointer, trivially
/// copied and returns nothing, costs no allocation; else it is allocated, together with room for the result. Errors: of
/// weft_unit_create().
template <class Callable>
requires std::invocable<std::decay_t<Callable>>
auto spawn(const Attributes& attributes, Callable&& callable) {
  return spawn_as<std::invoke_result_t<std::decay_t<Callable>>>(attributes, std::forward<Callable>(callable));
}
template <class Callable>
requires std::invocable<std::decay_t<Callable>>
auto spawn(Callable&& callable) { return spawn(Attributes{}, std::forward<Callable>(callable)); }

/// The same, and nobody joins it. An exception that it does not catch ends the process (std::terminate).
template <class Callable>
requires std::invocable<std::decay_t<Callable>>
void spawn_detached(const Attributes& attributes, Callable&& callable) {
  using Kept = std::decay_t<Callable>;
  const weft_unit_attr attr = attributes.get();
  if constexpr (detail::is_small<Kept>) {
    const Kept kept(std::forward<Callable>(callable));
    const auto run = [](void* argument) noexcept { detail::run_packed<Kept>(argument); };
    detail::check(detail::wait([&] { return weft_unit_create(run, detail::pack(kept), &attr, nullptr); }));
  } else {
    auto task = std::make_unique<Kept>(std::forward<Callable>(callable));
    const auto run = [](void* argument) noexcept {
      Kept kept = [argument] {
        const std::unique_ptr<Kept> given(static_cast<Kept*>(argument));
        return Kept(std::move(*given));
      }();
      std::invoke(std::move(kept));
    };
    Kept* given = task.release();  // the unit's, if there is one: it may have ended before the call returns
    const int error = detail::wait([&] { return weft_unit_create(run, given, &attr, nullptr); });
    if (error != WEFT_OK) task.reset(given);
    detail::check(error);
  }
}
template <class Callable>
requires std::invocable<std::decay_t<Callable>>
void spawn_detached(Callable&& callable) { spawn_detached(Attributes{}, std::forward<Callable>(callable)); }

/// Many units, created at once, that call one callable with 0, 1, 2, ...: what spawn_many() returns.
class [[nodiscard]] Units {
 public:
  /// None.
  Units() noexcept = default;
  Units(Units&& other) noexcept = default;
  /// Joins those that there were.
  Units& operator=(Units&& other) noexcept {
    if (this == &other) return *this;
    end();
    task_ = std::move(other.task_);
    return *this;
  }
  /// As that of Unit.
  ~Units() { end(); }

  /// How many have not been joined: all or none.
  std::size_t size() const noexcept { return task_ != nullptr ? task_->count : 0; }
  /// Of the unit that is called with `index`.
  weft_unit* handle(std::size_t index) const noexcept { return task_->units[index]; }

  /// Waits until all are done, frees them, and throws what the first one that did has thrown. Errors: of
  /// weft_unit_join().
  void join() {
    if (task_ == nullptr) return;
    wait();
    std::exchange(task_, nullptr)->outcome.take();
  }

 private:
  template <class Callable>
  friend Units spawn_many(const Attributes& attributes, std::size_t count, Callable&& callable);

  struct Many {
    Many() = default;
    Many(const Many&) = delete;
    Many& operator=(const Many&) = delete;
    virtual ~Many() = default;
    detail::Outcome<void> outcome;
    std::atomic<bool> has_thrown{false};
    std::size_t count = 0;
    std::unique_ptr<weft_unit*[]> units;
    std::unique_ptr<Many*[]> places;  // its address tells each unit its index, what lies there the rest
  };
  template <class Callable>
  struct ManyOf final : Many {
    template <class Given>
    explicit ManyOf(Given&& given) : callable(std::forward<Given>(given)) {}
    static void run(void* argument) {
      auto* place = static_cast<Many**>(argument);
      auto& self = static_cast<ManyOf&>(**place);
      const auto call = [&] { std::invoke(self.callable, static_cast<std::size_t>(place - self.places.get())); };
      if constexpr (noexcept(call())) {
        call();
      } else {
        detail::Outcome<void> outcome;
        outcome.run(call);
        if (outcome.has_thrown() && !self.has_thrown.exchange(true, std::memory_order_relaxed))
          self.outcome = std::move(outcome);
      }
    }
    Callable callable;
  };

  void wait() {
    detail::check(detail::wait([this] { return weft_unit_join_many(task_->count, task_->units.get()); }));
    (void)weft_unit_free_many(task_->count, task_->units.get());
  }
  void end() noexcept {
    if (task_ == nullptr) return;
    wait();
    if (std::exchange(task_, nullptr)->outcome.has_thrown()) detail::drop_exception();
  }

  std::unique_ptr<Many> task_;
};

/// `count` units, each with its index, that call one copy of `callable`, at the same time. It returns nothing: results
/// go where they are wanted. Errors: of weft_unit_create_many().
template <class Callable>
Units spawn_many(const Attributes& attributes, std::size_t count, Callable&& callable) {
  using Kept = std::decay_t<Callable>;
  static_assert(std::is_void_v<std::invoke_result_t<Kept&, std::size_t>>, "a unit of many returns nothing");
  Units made;
  if (count == 0) return made;
  const weft_unit_attr attr = attributes.get();
  auto task = std::make_unique<Units::ManyOf<Kept>>(std::forward<Callable>(callable));
  task->count = count;
  task->units = std::make_unique<weft_unit*[]>(count);
  task->places = std::make_unique<Units::Many*[]>(count);
  const auto arguments = std::make_unique<void*[]>(count);
  for (std::size_t index = 0; index < count; ++index) {
    task->places[index] = task.get();
    arguments[index] = &task->places[index];
  }
  detail::check(weft_unit_create_many(count, Units::ManyOf<Kept>::run, arguments.get(), &attr, task->units.get()));
  made.task_ = std::move(task);
  return made;
}
template <class Callable>
Units spawn_many(std::size_t count, Callable&& callable) {
  return spawn_many(Attributes{}, count, std::forward<Callable>(callable));
}

/// What the calling unit (or root) does: the functions of weft.h that wait.
namespace this_unit {

inline void yield() { detail::check(detail::wait(weft_yield)); }
/// False: it cannot run next, nothing has happened.
[[nodiscard]] inline bool yield_to(weft_unit* unit) {
  return detail::check_unless(WEFT_ERR_STATE, detail::wait([unit] { return weft_yield_to(unit); }));
}
inline void suspend() { detail::check(detail::wait(weft_suspend)); }
/// False: it has been resumed already, or is done; the caller has not yielded.
[[nodiscard]] inline bool resume_to(weft_unit* unit) {
  return detail::check_unless(WEFT_ERR_STATE, detail::wait([unit] { return weft_resume_to(unit); }));
}
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& duration) {
  detail::check(detail::wait([&] { return weft_sleep(detail::nanoseconds(duration)); }));
}
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& time) {
  (void)detail::wait_until(time, [](std::uint64_t nanoseconds) {
    detail::check(detail::wait([nanoseconds] { return weft_sleep(nanoseconds); }));
    return false;
  });
}

}  // namespace this_unit

/// A value of each unit and each root: made when it is first asked for, destroyed when the unit (or the root's thread)
/// ends. Let it outlive the units: values that are left when the UnitLocal is destroyed are never destroyed themselves.
template <class T>
class UnitLocal {
 public:
  /// LIMIT.
  UnitLocal() {
    detail::check(weft_key_create([](void* value) { delete static_cast<T*>(value); }, &key_));
  }
  ~UnitLocal() { (void)weft_key_delete(key_); }
  UnitLocal(const UnitLocal&) = delete;
  UnitLocal& operator=(const UnitLocal&) = delete;

  weft_key handle() const noexcept { return key_; }

  /// The caller's. MEMORY.
  T& operator*() const { return *get(); }
  T* operator->() const { return get(); }

 private:
  T* get() const {
    void* value = nullptr;
    detail::check(weft_key_get(key_, &value));
    if (value != nullptr) [[likely]]
      return static_cast<T*>(value);
    auto made = std::make_unique<T>();
    detail::check(weft_key_set(key_, made.get()));
    return made.release();
  }
  weft_key key_{};
};

// ---------------------------------------------------------------- pools, schedulers, workers

/// weft_pool. Empty, and in no scheduler any more, when it is destroyed.
class Pool {
 public:
  explicit Pool(weft_order order, weft_access access = WEFT_MPMC) {
    detail::check(weft_pool_create(order, access, &it_));
  }
  /// One of the user's own.
  Pool(const weft_pool_functions& functions, void* data) {
    detail::check(weft_pool_create_custom(&functions, data, &it_));
  }
  ~Pool() noexcept { detail::check(weft_pool_free(it_)); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  weft_pool* handle() const noexcept { return it_; }

 private:
  weft_pool* it_ = nullptr;
};

/// weft_scheduler. No worker has it any more when it is destroyed.
class Scheduler {
 public:
  Scheduler(weft_scheduler_kind kind, const std::vector<weft_pool*>& pools) {
    detail::check(weft_scheduler_create(kind, pools.size(), pools.data(), &it_));
  }
  ~Scheduler() noexcept { detail::check(weft_scheduler_free(it_)); }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  weft_scheduler* handle() const noexcept { return it_; }

 private:
  friend class CustomScheduler;
  Scheduler(void (*run)(weft_scheduler*, void*), void* data, bool stateless, const std::vector<weft_pool*>& pools) {
    detail::check(weft_scheduler_create_custom(run, data, stateless ? 1 : 0, pools.size(), pools.data(), &it_));
  }
  weft_scheduler* it_ = nullptr;
};

/// A scheduler of the user's own: a class derived from this one, whose run() takes units out of its pools and runs them
/// until stops(). Of one that several workers have, run() is called by each of them, at the same time.
class CustomScheduler : public Scheduler {
 public:
  virtual ~CustomScheduler() = default;

 protected:
  /// `stateless`: see weft_scheduler_create_custom().
  CustomScheduler(bool stateless, const std::vector<weft_pool*>& pools) : Scheduler(enter, this, stateless, pools) {}
  virtual void run() noexcept = 0;

  bool stops() const { return weft_scheduler_stops(handle()) != 0; }
  /// A unit of its pool with that number; nullptr: it is empty.
  weft_unit* pop(std::size_t index) const {
    weft_pool* pool = nullptr;
    weft_unit* unit = nullptr;
    detail::check(weft_scheduler_pool(handle(), index, &pool));
    return weft_pool_pop(pool, &unit) == WEFT_OK ? unit : nullptr;
  }

 private:
  static void enter(weft_scheduler* /*scheduler*/, void* data) { static_cast<CustomScheduler*>(data)->run(); }
};

/// weft_worker: a further one, with that scheduler, until it is joined.
class Worker {
 public:
  explicit Worker(const Scheduler& scheduler) { detail::check(weft_worker_create(scheduler.handle(), &it_)); }
  ~Worker() { join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  weft_worker* handle() const noexcept { return it_; }

  /// Waits until its scheduler's pools are empty, and ends it.
  void join() {
    if (it_ != nullptr) detail::check(weft_worker_join(it_));
    it_ = nullptr;
  }

 private:
  weft_worker* it_ = nullptr;
};

}  // namespace WEFT_CONFIGURATION
}  // namespace weft

#endif  // C++20
#endif
