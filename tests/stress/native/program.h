// What all units and roots of a program share, and the pools with workers that are there from its beginning to its end.
#pragma once

#include "place.h"
#include "random.h"

#include <weft/weft.h>

#include <atomic>
#include <memory>
#include <vector>

namespace native {

/// A mutex, and what is counted under it: once exactly, and once without regard to it.
struct Guarded {
  weft_mutex mutex;
  unsigned kind = 0;
  long value = 0;
  std::atomic<long> expected{0};
};

struct Program {
  enum class Process { parent, child };
  Program(Random& random, Process process);

  bool preempts;                               // some units are preemptive
  bool is_child;                               // of fork()
  std::vector<std::unique_ptr<Place>> places;  // whose pools anybody may use
  std::vector<weft_pool*> pools;               // of these
  std::vector<weft_worker*> workers;           // of these

  Guarded guarded[4];
  weft_rwlock rwlock = WEFT_RWLOCK_INIT;
  long twins[2] = {0, 0};  // under the rwlock
  std::atomic<long> writes{0};
  std::atomic<int> writers{0};
  static constexpr std::uint32_t permits = 3;
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(permits);
  std::atomic<std::uint32_t> permits_taken{0};

  static constexpr unsigned key_count = 4;
  weft_key keys[key_count];
  std::atomic<long> values{0};    // of keys: of units that nobody joins, and of roots
  std::atomic<long> detached{0};  // units that nobody joins, and that are not done
  std::atomic<long> created{0};
  std::atomic<long> ended{0};
  std::atomic<unsigned> children{0};  // of fork()
};
inline Program* program = nullptr;

/// The calling root's, in a child of fork(), where weft has been started, and the parent's pools have been left behind.
void run_child(Random& random);

/// How many units it was.
long run_program(std::uint64_t seed);

}  // namespace native
