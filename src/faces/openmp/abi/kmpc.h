// What LLVM's and Intel's compilers pass to their runtime: the types that all of its entry points share.
//
// Most take a place in the source and the number of the calling thread first. weft finds the thread by itself, so
// that the number is never looked at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/sync/mutex.h"

namespace weft::openmp {

struct Ident {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2;
  std::int32_t reserved_3;
  const char* source;  // ";file;function;line;column;;"
};

using Gtid = std::int32_t;

/// Of the error directive, and of what num_threads(strict) does where it cannot be had.
inline constexpr std::int32_t severity_fatal = 2;

/// Zero at first, and 32 bytes long: room for a mutex, whose initial state is zero.
using CriticalName = core::Mutex;
static_assert(sizeof(CriticalName) <= 32);

/// The outlined body of a region: (thread number, number in the team, shared variables...), all by reference.
using Microtask = void (*)();

struct Member;

/// The loop with ordered(n) and depend that the member has begun is shared out now; so many iterations are, more than
/// none.
void tell_trips_of_doacross(const Member& member, std::uint64_t trips);

}  // namespace weft::openmp
