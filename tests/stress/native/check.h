// What must hold, and who is doing what: a failure, or a program that does not end, is one line that names the seed,
// the workers, and the command that runs it again.
#pragma once

#include <weft/weft.h>

#include <cstdint>

namespace native {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// Nothing is preempted, and units have no thread-local storage of their own. Nobody forks: AddressSanitizer's
/// allocator does not survive that beside busy threads, and ThreadSanitizer allows no threads in children.
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr unsigned most_roots = 64;

/// Of which seed the failures are from here on. `command`: all but the seed.
void watch_seed(std::uint64_t seed, const char* command);
/// So that one that dies by a signal, or of a sanitizer's finding, says of which seed.
void name_seed_of_death();
/// For so many seconds nothing may happen: programs take longer on a machine that is busy, but go on.
void start_watchdog(unsigned seconds);
/// A unit has begun, or has ended.
void note_progress();
void stop_watchdog();
/// The calling thread is alone in a child of fork().
void watch_child();

[[noreturn]] void fail(const char* what, long long actual, long long expected);

/// What the caller is doing: a unit, or the root that this thread is.
void at(const char* what);
/// The calling thread is a root of that number, and does something; nothing more.
void begin_root(unsigned number);
void end_root();

std::uint64_t now();  // in nanoseconds

inline void expect(const char* what, int error, int expected) {
  if (error != expected) fail(what, error, expected);
}

/// Whether a call with a time limit was in time; if not, the limit is over.
template <class Call>
bool is_in_time(const char* what, std::uint64_t limit, Call call) {
  at(what);
  const std::uint64_t start = now();
  const int error = call();
  if (error != WEFT_ERR_TIMEOUT) {
    expect(what, error, WEFT_OK);
    return true;
  }
  if (now() - start < limit) fail(what, static_cast<long long>(now() - start), static_cast<long long>(limit));
  return false;
}

}  // namespace native

#define NATIVE_TEXT_OF(what) #what
#define NATIVE_TEXT(what) NATIVE_TEXT_OF(what)
#define NATIVE_PLACE(what) __FILE_NAME__ ":" NATIVE_TEXT(__LINE__) ": " what

#define MUST(condition)                                                           \
  do {                                                                            \
    if (!(condition)) ::native::fail(NATIVE_PLACE(#condition " is false"), 0, 0); \
  } while (false)
#define SAME(actual, expected)                                                                               \
  do {                                                                                                       \
    const auto actual_value = static_cast<long long>(actual);                                                \
    const auto expected_value = static_cast<long long>(expected);                                            \
    if (actual_value != expected_value) ::native::fail(NATIVE_PLACE(#actual), actual_value, expected_value); \
  } while (false)
#define IS(call, error)                                 \
  do {                                                  \
    ::native::at(NATIVE_PLACE(#call));                  \
    ::native::expect(NATIVE_PLACE(#call), call, error); \
  } while (false)
#define OK(call) IS(call, WEFT_OK)
/// A limit for once more, where this one was over.
inline std::uint64_t longer(std::uint64_t limit) { return 2 * limit + 20'000; }
#define IN_TIME(limit, call) ::native::is_in_time(NATIVE_PLACE(#call), limit, [&] { return call; })
