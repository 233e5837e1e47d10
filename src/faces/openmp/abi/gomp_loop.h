// What GCC's entry points for loops have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faces/openmp/abi/gomp_reduction.h"
#include "faces/openmp/loop.h"

namespace weft::openmp {

// GCC's numbers for schedules where it is an argument (the high bit says monotonic). None is for auto, which is static
// in its code. (Bug: the last one was taken for that.)
enum GccSchedule : long { gcc_runtime, gcc_static, gcc_dynamic, gcc_guided, gcc_nonmonotonic_runtime };

// GCC takes dynamic without a modifier for nonmonotonic, as OpenMP 5 says. Its own runtime gives each thread its chunks
// in ascending order all the same, and so does LLVM's to GCC's code; programs rely on it (sumaclust, megahit: the first
// that a thread finds is the lowest). So here, too. LLVM's code gets them in any order from LLVM's runtime.
//
// T: the type of the loop's bounds. (Bug: all chunks were taken for signed ones, so that the largest were none.)
template <class T>
Loop scheduled(Loop loop, Schedule schedule, T chunk, bool ordered = false) {
  loop.schedule = schedule;
  loop.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
  loop.ordered = ordered;
  return loop;
}

inline Loop by_runtime(Loop loop, bool ordered = false) {
  loop.ordered = ordered;
  return with_runtime_schedule(this_member(), loop, Dialect::gnu);
}

template <class T>
Loop by_number(const Loop& loop, long schedule, T chunk, bool ordered = false) {
  constexpr unsigned long kinds = 7;
  const long kind = static_cast<long>(static_cast<unsigned long>(schedule) & kinds);
  if (kind == gcc_runtime || kind == gcc_nonmonotonic_runtime) return by_runtime(loop, ordered);
  return scheduled(loop, static_cast<Schedule>(kind), chunk, ordered);
}

template <class T>
bool next(T* start, T* end) {
  Chunk chunk;
  if (!next_chunk(this_member(), &chunk)) return false;
  *start = static_cast<T>(chunk.start);
  *end = static_cast<T>(chunk.end);
  return true;
}

/// Enters the loop, where it may have task reductions and memory that the members share; *memory is its size before.
inline void enter_general(Member& member, const Loop& loop, std::uintptr_t* reductions, void** memory) {
  const EntryStep step = reductions_of_worksharing(reductions);
  const std::size_t size = memory != nullptr ? reinterpret_cast<std::uintptr_t>(*memory) : 0;
  enter_loop(member, loop, size, reductions != nullptr ? &step : nullptr);
  if (memory != nullptr) *memory = member.loop.shared->memory;
}

}  // namespace weft::openmp
