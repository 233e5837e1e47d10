// weft: threads that start as function calls. The native API for C++20, header-only, over weft/weft.h and
// weft/sync.h, which say what each operation does; this file says what C++ adds.
//
// What it adds, and nothing else: lifetimes (RAII), types (units run any callable and hand back what it returns),
// exceptions (of a unit, carried to who joins it; errors as weft::Error), std::chrono, and names that the standard
// library's templates know (std::lock_guard, std::unique_lock, std::scoped_lock, std::shared_lock). What C++ does not
// make better, the C functions do: every class here has handle() for them, e.g. weft_unit_cancel(unit.handle()).
//
// Errors. A call that fails throws Error, and has changed nothing; with -fno-exceptions it ends the process with a line
// instead. No memory for a callable or a result: std::bad_alloc. Destructors wait where a handle is still in use, and
// end the process where that cannot be.
//
// Exceptions and waiting. The C++ runtime keeps, per kernel thread, which exceptions are being handled, and a unit may
// go on on another thread. All that waits here takes that state along, so units may wait in catch blocks and in
// destructors that run while an exception is under way. The C functions do not: call those that wait outside of both,
// or give the unit WEFT_OWN_TLS.
//
// Works with and without exceptions, and without RTTI. A program may mix both kinds of files.
#ifndef WEFT_WEFT_HPP
#define WEFT_WEFT_HPP

#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/weft.h"

#if defined(__cpp_exceptions)
#include <cxxabi.h>
#define WEFT_HAS_EXCEPTIONS 1
#define WEFT_CONFIGURATION throwing
#else
#define WEFT_HAS_EXCEPTIONS 0
#define WEFT_CONFIGURATION not_throwing
#endif

namespace weft {
inline namespace WEFT_CONFIGURATION {

// ---------------------------------------------------------------- errors

/// What a call of weft has returned instead of WEFT_OK.
class Error : public std::exception {
 public:
  explicit Error(int code) noexcept : code_(code) {}
  /// One of enum weft_error.
  int code() const noexcept { return code_; }
  /// "WEFT_ERR_STATE" and so on.
  const char* name() const noexcept { return weft_error_name(code_); }
  const char* what() const noexcept override { return weft_error_text(code_); }

 private:
  int code_;
};

namespace detail {

[[noreturn]] inline void fail(int code) {
#if WEFT_HAS_EXCEPTIONS
  throw Error(code);
#else
  std::fprintf(stderr, "weft: %s: %s\n", weft_error_name(code), weft_error_text(code));
  std::abort();
#endif
}

inline void check(int code) {
  if (code != WEFT_OK) [[unlikely]]
    fail(code);
}

/// False: `expected`, an error that is an answer.
inline bool check_unless(int expected, int code) {
  if (code == expected) return false;
  check(code);
  return true;
}

// ---------------------------------------------------------------- waiting

#if WEFT_HAS_EXCEPTIONS
/// __cxa_eh_globals of the Itanium C++ ABI (2.2.2), which <cxxabi.h> leaves incomplete.
struct Handling {
  void* caught;
  unsigned uncaught;
};

/// Of the calling thread. Not inlined: __cxa_get_globals() is declared const, and its result must not be kept across a
/// wait.
[[gnu::noinline]] inline Handling* handling() {
  auto* globals = reinterpret_cast<Handling*>(abi::__cxa_get_globals());
  __asm__ volatile("" : "+r"(globals));
  return globals;
}

/// As long as it lives the caller may leave the thread.
class Waiting {
 public:
  Waiting() : kept_(*handling()) {
    if (busy()) [[unlikely]]
      *handling() = Handling{nullptr, 0};
  }
  ~Waiting() {
    if (busy()) [[unlikely]]
      *handling() = kept_;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  bool busy() const { return kept_.caught != nullptr || kept_.uncaught != 0; }
  Handling kept_;
};
#else
struct Waiting {
  Waiting() {}
  ~Waiting() {}
};
#endif

/// A call of the C API that may wait, and its answer.
template <class Call>
int wait(Call call) {
  const Waiting waiting;
  return call();
}

/// Rounded up; what does not fit is no limit.
template <class Rep, class Period>
std::uint64_t nanoseconds(const std::chrono::duration<Rep, Period>& duration) {
  using Real = std::chrono::duration<double, std::nano>;
  constexpr double most = 9e18;
  if (!(duration > duration.zero())) return 0;
  if (!(std::chrono::duration_cast<Real>(duration).count() < most)) return WEFT_FOREVER;
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(duration).count());
}

/// bool wait(nanoseconds) until the time; a clock that is set meanwhile is asked again.
template <class Clock, class Duration, class Wait>
bool wait_until(const std::chrono::time_point<Clock, Duration>& time, Wait wait) {
  for (;;) {
    if (wait(nanoseconds(time - Clock::now()))) return true;
    if (Clock::now() >= time) return false;
  }
}

/// wait(), wait_for() and wait_until() of all that is waited for to happen; int Derived::timed_wait(nanoseconds).
template <class Derived>
class Waitable {
 public:
  /// Waits until it has happened.
  void wait() {
    check(detail::wait([this] { return self().timed_wait(WEFT_FOREVER); }));
  }
  /// False: not within that time.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period>& duration) {
    return within(nanoseconds(duration));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::wait_until(time, [this](std::uint64_t nanoseconds) { return within(nanoseconds); });
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  bool within(std::uint64_t nanoseconds) {
    return check_unless(WEFT_ERR_TIMEOUT, detail::wait([&] { return self().timed_wait(nanoseconds); }));
  }
};

// ---------------------------------------------------------------- results

/// What a callable has returned or thrown.
template <class T>
class Outcome {
  static constexpr bool is_void = std::is_void_v<T>;
  struct Nothing {};
  using Kept =
      std::conditional_t<is_void, Nothing,
                         std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::remove_cv_t<T>>>;

 public:
  template <class Callable>
  void run(Callable&& callable) {
#if WEFT_HAS_EXCEPTIONS
    try {
      keep(std::forward<Callable>(callable));
    } catch (...) {
      thrown_ = std::current_exception();
    }
#else
    keep(std::forward<Callable>(callable));
#endif
  }

  /// Moves it out, or throws it. Error, WEFT_ERR_STATE: there is nothing.
  T take() {
    throw_if_thrown();
    if constexpr (std::is_reference_v<T>)
      return static_cast<T>(**there());
    else if constexpr (!is_void)
      return std::move(*there());
  }
  std::add_lvalue_reference_t<T> get() {
    throw_if_thrown();
    if constexpr (std::is_reference_v<T>)
      return **there();
    else if constexpr (!is_void)
      return *there();
  }
  template <class... Values>
  void set(Values&&... values) {
    value_.emplace(std::forward<Values>(values)...);
  }
#if WEFT_HAS_EXCEPTIONS
  bool has_thrown() const { return thrown_ != nullptr; }
  void set_exception(std::exception_ptr thrown) { thrown_ = std::move(thrown); }
#else
  bool has_thrown() const { return false; }
#endif

 private:
  template <class Callable>
  void keep(Callable&& callable) {
    if constexpr (is_void) {
      std::invoke(std::forward<Callable>(callable));
    } else if constexpr (std::is_reference_v<T>) {
      T&& referred = std::invoke(std::forward<Callable>(callable));
      value_.emplace(std::addressof(referred));
    } else {
      value_.emplace(std::invoke(std::forward<Callable>(callable)));
    }
  }
  Kept* there() {
    if (!value_) fail(WEFT_ERR_STATE);
    return std::addressof(*value_);
  }
  void throw_if_thrown() {
#if WEFT_HAS_EXCEPTIONS
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
#endif
  }

  std::optional<Kept> value_;
#if WEFT_HAS_EXCEPTIONS
  std::exception_ptr thrown_;
#endif
};

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
    const std::lock_guard guard(lock_);
    first_ = new Entry{unit, std::move(what), first_};
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  /// The unit is done, so what it has put is seen.
  std::exception_ptr take(const weft_unit* unit) {
    if (count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return nullptr;
    const std::lock_guard guard(lock_);
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
/// ends. Let it outlive the units: a value that is left when it is destroyed is not.
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

// ---------------------------------------------------------------- synchronisation

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
    return detail::check_unless(WEFT_ERR_TIMEOUT,
                                detail::wait([&] { return weft_mutex_timed_lock(&it_, nanoseconds); }));
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
    return detail::check_unless(WEFT_ERR_TIMEOUT, detail::wait([&] {
                                  return weft_cond_timed_wait(&it_, lock.mutex()->handle(), nanoseconds);
                                }));
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
    return detail::check_unless(WEFT_ERR_TIMEOUT, detail::wait([&] { return timed_lock(&it_, nanoseconds); }));
  }
  weft_rwlock it_ = WEFT_RWLOCK_INIT;
};

/// weft_semaphore, as std::counting_semaphore.
class Semaphore {
 public:
  constexpr explicit Semaphore(std::uint32_t permits) noexcept : it_ WEFT_SEMAPHORE_INIT(permits) {}
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
    return detail::check_unless(WEFT_ERR_TIMEOUT,
                                detail::wait([&] { return weft_semaphore_timed_acquire(&it_, nanoseconds); }));
  }
  weft_semaphore it_;
};

/// weft_latch, as std::latch.
class Latch : public detail::Waitable<Latch> {
 public:
  constexpr explicit Latch(std::uint32_t count) noexcept : it_ WEFT_LATCH_INIT(count) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  weft_latch* handle() noexcept { return &it_; }
  weft_event event() noexcept { return {WEFT_EVENT_LATCH, &it_}; }

  void count_down(std::uint32_t by = 1) { detail::check(weft_latch_count_down(&it_, by)); }
  [[nodiscard]] bool try_wait() { return detail::check_unless(WEFT_ERR_EMPTY, weft_latch_test(&it_)); }
  void arrive_and_wait(std::uint32_t by = 1) {
    count_down(by);
    wait();
  }

 private:
  friend class detail::Waitable<Latch>;
  int timed_wait(std::uint64_t nanoseconds) { return weft_latch_timed_wait(&it_, nanoseconds); }
  weft_latch it_;
};

/// weft_barrier.
class Barrier {
 public:
  constexpr explicit Barrier(std::uint32_t parties) noexcept : it_ WEFT_BARRIER_INIT(parties) {}
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
    const int error = detail::wait([&] { return weft_barrier_timed_wait(&it_, nanoseconds, &last); });
    if (!detail::check_unless(WEFT_ERR_TIMEOUT, error)) return std::nullopt;
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
/// before anybody who waits goes on.
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
    std::invoke(self.done_, self.all());
  }

  weft_future it_{};
  const std::uint32_t count_;
  std::atomic<std::uint64_t> taken_{0};
  T* const values_;
  Done done_;
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
  const int error =
      detail::wait([&] { return weft_select(sizeof...(Objects), events, detail::nanoseconds(duration), &which); });
  if (!detail::check_unless(WEFT_ERR_TIMEOUT, error)) return std::nullopt;
  return which;
}

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

#undef WEFT_CONFIGURATION

#endif
