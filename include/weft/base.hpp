// weft for C++20: what the classes of weft/sync.hpp and weft/weft.hpp, which include this file, have in common. Errors;
// waits that take the state of exceptions along; what a unit has returned or thrown.
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
#ifndef WEFT_BASE_HPP
#define WEFT_BASE_HPP

#if __cplusplus < 202002L
#error "the headers weft/*.hpp need C++20 (-std=c++20); weft/weft.h, sync.h and io.h do for every C++"
#endif

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

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

/// ARGUMENT if it is not valid; a constant expression does not compile then.
constexpr std::uint32_t checked(std::uint32_t argument, bool is_valid) {
  if (!is_valid) fail(WEFT_ERR_ARGUMENT);
  return argument;
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

/// As long as it lives the caller may leave the thread. A unit that depends on no thread may be preempted between two
/// steps here, and would look at what belongs to the thread that it has left, and to another unit. (Bug: it took the
/// exception of that one along.)
class Waiting {
 public:
  Waiting() {
    const Handling* here;
    do {
      here = handling();
      kept_ = *here;
    } while (here != handling());
    if (busy()) [[unlikely]]
      replace(Handling{nullptr, 0});
  }
  ~Waiting() {
    if (busy()) [[unlikely]]
      replace(kept_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  bool busy() const { return kept_.caught != nullptr || kept_.uncaught != 0; }
  static void replace(Handling other) {
    const bool held_off = weft_preempt_disable() == WEFT_OK;
    *handling() = other;
    if (held_off) weft_preempt_enable();
  }
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

/// A call of the C API that waits for so long at most. False: that was not long enough.
template <class Call>
bool wait_in_time(Call call) {
  return check_unless(WEFT_ERR_TIMEOUT, wait(call));
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

/// From now until the time, as nanoseconds() says it; 0 if it has passed. (Bug: `time - Clock::now()` overflowed, so
/// one waited for ever until a time long before the clock began.)
template <class Clock, class Duration>
std::uint64_t nanoseconds_until(const std::chrono::time_point<Clock, Duration>& time) {
  using Real = std::chrono::duration<double, std::nano>;
  constexpr double most = 9e18;
  const double then = std::chrono::duration_cast<Real>(time.time_since_epoch()).count();
  if (then >= most) return WEFT_FOREVER;
  if (!(then > -most)) return 0;
  const auto now = Clock::now();
  if (then - std::chrono::duration_cast<Real>(now.time_since_epoch()).count() >= most) return WEFT_FOREVER;
  return time > now ? nanoseconds(time - now) : 0;
}

/// bool wait(nanoseconds) until the time; a clock that is set meanwhile is asked again.
template <class Clock, class Duration, class Wait>
bool wait_until(const std::chrono::time_point<Clock, Duration>& time, Wait wait) {
  for (;;) {
    if (wait(nanoseconds_until(time))) return true;
    if (nanoseconds_until(time) == 0) return false;
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
    return wait_in_time([&] { return self().timed_wait(nanoseconds); });
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
    if constexpr (std::is_reference_v<T>)  // (Bug: Eventual<T&>::set() did not compile.)
      value_.emplace(std::addressof(values)...);
    else
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

}  // namespace detail
}  // namespace WEFT_CONFIGURATION
}  // namespace weft

#endif
