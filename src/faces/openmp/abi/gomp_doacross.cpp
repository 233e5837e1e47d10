// GCC's entry points for loops with ordered(n) and depend. The compiler counts the iterations of the loops from 0:
// counts[0] are those that are shared out (of several loops that are collapsed, all), the others are those of the loops
// inside.
#include <cstdarg>
#include <cstdint>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_loop.h"
#include "faces/openmp/abi/gomp_reduction.h"
#include "faces/openmp/doacross.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/ompt/work.h"

namespace weft::openmp {
namespace {

using Ull = unsigned long long;

// A loop over counts[0] iterations by `schedule`.
template <class T, class WithSchedule>
bool begin(unsigned number, const T* counts, T* start, T* end, std::uintptr_t* reductions, void** memory,
           WithSchedule with_schedule) {
  const unsigned inner = number - 1;
  auto extents = static_cast<std::uint64_t*>(__builtin_alloca((inner + 1) * sizeof(std::uint64_t)));
  for (unsigned index = 0; index < inner; ++index) extents[index] = static_cast<std::uint64_t>(counts[index + 1]);
  Loop loop;
  loop.end = counts[0] > 0 ? static_cast<std::uint64_t>(counts[0]) : 0;
  const Iterations iterations{loop.end, extents, inner};
  loop.doacross = &iterations;
  enter_general(this_member(), with_schedule(loop), reductions, memory);
  return next(start, end);
}

template <class T>
bool begin_scheduled(unsigned number, const T* counts, T* start, T* end, Schedule schedule, T chunk) {
  return begin(number, counts, start, end, nullptr, nullptr,
               [&](const Loop& loop) { return scheduled(loop, schedule, chunk); });
}

template <class T>
bool begin_by_runtime(unsigned number, const T* counts, T* start, T* end) {
  return begin(number, counts, start, end, nullptr, nullptr, [](const Loop& loop) { return by_runtime(loop); });
}

template <class T>
bool begin_by_number(unsigned number, const T* counts, long schedule, T chunk, T* start, T* end,
                     std::uintptr_t* reductions, void** memory) {
  return begin(number, counts, start, end, reductions, memory,
               [&](const Loop& loop) { return by_number(loop, schedule, chunk); });
}

// A tool is told of an iteration before it is posted, and of one awaited when it has been: numbers, as the compiler has
// them.
template <class T>
[[gnu::noinline, gnu::cold]] void tell_source(const Member& member, const T* place) {
  static_assert(sizeof(T) == sizeof(std::uint64_t));
  ompt::tell_doacross(ompt::DependenceKind::source, reinterpret_cast<const std::uint64_t*>(place),
                      member.loop.shared->dimensions + 1);
}

template <class T>
[[gnu::noinline, gnu::cold]] void tell_sink(const Member& member, T first, va_list others) {
  const unsigned count = member.loop.shared->dimensions + 1;
  auto place = static_cast<std::uint64_t*>(__builtin_alloca(count * sizeof(std::uint64_t)));
  place[0] = static_cast<std::uint64_t>(first);
  for (unsigned index = 1; index < count; ++index) place[index] = static_cast<std::uint64_t>(va_arg(others, T));
  ompt::tell_doacross(ompt::DependenceKind::sink, place, count);
}

template <class T>
void post(const T* place) {
  Member& member = this_member();
  if (ompt::watched) [[unlikely]]
    tell_source(member, place);
  const std::uint64_t column =
      column_of(*member.loop.shared, [&](unsigned index) { return static_cast<std::uint64_t>(place[index + 1]); });
  post_iteration(*member.loop.shared, static_cast<std::uint64_t>(place[0]), column);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

#define DEFINE_DOACROSS(prefix, T)                                                                      \
  WEFT_EXPORT bool prefix##_static_start(unsigned number, T* counts, T chunk, T* start, T* end) {       \
    ompt::note_caller(WEFT_CALLER);                                                                     \
    return begin_scheduled(number, counts, start, end, Schedule::static_, chunk);                       \
  }                                                                                                     \
  WEFT_EXPORT bool prefix##_dynamic_start(unsigned number, T* counts, T chunk, T* start, T* end) {      \
    ompt::note_caller(WEFT_CALLER);                                                                     \
    return begin_scheduled(number, counts, start, end, Schedule::dynamic, chunk);                       \
  }                                                                                                     \
  WEFT_EXPORT bool prefix##_guided_start(unsigned number, T* counts, T chunk, T* start, T* end) {       \
    ompt::note_caller(WEFT_CALLER);                                                                     \
    return begin_scheduled(number, counts, start, end, Schedule::guided, chunk);                        \
  }                                                                                                     \
  WEFT_EXPORT bool prefix##_runtime_start(unsigned number, T* counts, T* start, T* end) {               \
    ompt::note_caller(WEFT_CALLER);                                                                     \
    return begin_by_runtime(number, counts, start, end);                                                \
  }                                                                                                     \
  WEFT_EXPORT bool prefix##_start(unsigned number, T* counts, long schedule, T chunk, T* start, T* end, \
                                  std::uintptr_t* reductions, void** memory) {                          \
    ompt::note_caller(WEFT_CALLER);                                                                     \
    return begin_by_number(number, counts, schedule, chunk, start, end, reductions, memory);            \
  }
DEFINE_DOACROSS(GOMP_loop_doacross, long)
DEFINE_DOACROSS(GOMP_loop_ull_doacross, Ull)

WEFT_EXPORT void GOMP_doacross_post(long* place) { post(place); }
WEFT_EXPORT void GOMP_doacross_ull_post(Ull* place) { post(place); }

#define DEFINE_WAIT(name, T)                                                                                   \
  WEFT_EXPORT void name(T first, ...) {                                                                        \
    Member& member = this_member();                                                                            \
    va_list rest;                                                                                              \
    va_start(rest, first);                                                                                     \
    const std::uint64_t column =                                                                               \
        column_of(*member.loop.shared, [&](unsigned) { return static_cast<std::uint64_t>(va_arg(rest, T)); }); \
    va_end(rest);                                                                                              \
    wait_for_iteration(member, *member.loop.shared, static_cast<std::uint64_t>(first), column);                \
    if (ompt::watched) [[unlikely]] {                                                                          \
      va_start(rest, first);                                                                                   \
      tell_sink<T>(member, first, rest);                                                                       \
      va_end(rest);                                                                                            \
    }                                                                                                          \
  }
DEFINE_WAIT(GOMP_doacross_wait, long)
DEFINE_WAIT(GOMP_doacross_ull_wait, Ull)
