// Worksharing constructs: what the members of a team share while they work on one loop, sections or
// single region.
//
// Members may be in different constructs at a time (nowait). Construct number c of a region uses
// slot c modulo `slots`; the first member to get there prepares it, the last to leave frees it for
// number c + slots. A member that is that far ahead waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/layout.h"
#include "faces/openmp/icv.h"

namespace weft::openmp {

struct Member;

struct alignas(base::cache_line) Workshare {
  static constexpr std::uint64_t phase_free = 0, phase_preparing = 1, phase_ready = 2, phases = 4;

  std::atomic<std::uint64_t> state{0};  // construct * phases + phase
  std::atomic<bool> awaited{false};     // somebody waits for the slot to be free
  // A loop over `trips` iterations counted from 0; iteration k stands for start + k * step, in
  // arithmetic modulo 2^64, which serves signed and unsigned loops alike.
  Schedule schedule = Schedule::static_;
  std::uint64_t start = 0, step = 0, end = 0;
  std::uint64_t trips = 0;
  std::uint64_t chunk = 0;  // 0: static without chunk
  void* memory = nullptr;   // shared by the members of the construct, freed with it

  alignas(base::cache_line) std::atomic<std::uint64_t> next{0};
  alignas(base::cache_line) std::atomic<std::uint32_t> left{0};
  alignas(base::cache_line) std::atomic<std::uint64_t> turn{0};  // ordered: first iteration not passed yet
  std::atomic<std::uint32_t> turn_waiters{0};
};

class WorkshareRing {
 public:
  static constexpr unsigned slots = 8;
  Workshare& slot(std::uint64_t construct) { return ring_[construct % slots]; }
  WorkshareRing() { reset(); }
  void reset();

 private:
  Workshare ring_[slots];
};

/// The member meets its next worksharing construct. *first is set for the one that must prepare the
/// slot, and then call publish_construct(); for the others the slot is ready.
Workshare& enter_construct(Member& member, bool* first);
void publish_construct(Workshare& slot);

/// The member is through with the construct that it entered last.
void leave_construct(Member& member, Workshare& slot);

}  // namespace weft::openmp
