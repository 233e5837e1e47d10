// Internal control variables of which the process has one (OpenMP 5.2, section 2), set by the
// environment and, some, by routines. Those that each data environment has are in icv.h.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::openmp {

/// As libgomp numbers them.
enum class TargetOffload : std::uint8_t { default_, mandatory, disabled };

struct GlobalIcv {
  std::atomic<int> max_teams{0};           // nteams-var; 0: no limit
  std::atomic<int> teams_thread_limit{0};  // teams-thread-limit-var; 0: no limit
  TargetOffload target_offload = TargetOffload::default_;
  bool display_affinity = false;
};

extern GlobalIcv global_icv;

}  // namespace weft::openmp
