// What the environment says, read once when the library is loaded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faces/openmp/icv.h"

namespace weft::openmp {

enum class WaitPolicy : std::uint8_t { hybrid, active, passive };

inline constexpr int most_levels_in_list = 64;
inline constexpr std::uint64_t usual_plenty_of_tasks = 64;

/// How long those spin who shall not sleep. The nanosecond tells it from a time that somebody asked for.
inline constexpr std::uint64_t endless_spin_ns = 10ULL * 1000 * 1000 * 1000 + 1;

/// GOMP_SPINCOUNT counts turns of a loop; one is taken for so long here.
inline constexpr std::uint64_t spin_turn_ns = 10;

struct Settings {
  Icv icv;                                  // of the initial task
  int nthreads_list[most_levels_in_list];   // OMP_NUM_THREADS, one per level
  int nthreads_levels = 0;                  // entries used; 0: not given
  ProcBind bind_list[most_levels_in_list];  // OMP_PROC_BIND
  int bind_levels = 0;
  std::size_t stack_size = 0;  // OMP_STACKSIZE in bytes; 0: not given
  WaitPolicy wait_policy = WaitPolicy::hybrid;
  bool wait_policy_given = false;
  bool spin_given = false;  // GOMP_SPINCOUNT
  int max_task_priority = 0;
  bool cancellation = false;   // cancel-var
  bool attends_tasks = false;  // that, or there may be a tool: tasks take the paths that look
  bool display = false;        // OMP_DISPLAY_ENV=true or verbose
  bool display_verbose = false;
  bool report = false;        // WEFT_REPORT
  bool identities = true;     // WEFT_IDENTITY
  unsigned workers = 0;       // WEFT_NUM_WORKERS; 0: not given
  std::uint64_t spin_ns = 0;  // how long an idle worker looks before it sleeps
  unsigned looks = 2000;      // how often a waiting thread looks before it suspends
  /// Tasks that wait in a member's deque, for each member of the team, from which on it runs further ones at once.
  std::uint64_t plenty_of_tasks = usual_plenty_of_tasks;
};

extern Settings settings;

/// Reads the environment. A value that makes no sense is named in one line, and the default kept.
void read_settings();

/// Without OMP_NUM_THREADS there are no more threads than the cgroup's quota allows; it takes a dozen files to read. By
/// who starts the runtime.
void heed_quota();
/// That number, which is settings.icv.nthreads only once it has been heeded.
int threads_by_default();

/// A variable of the environment, set when the library has been loaded: for tasks to come, and in the ICVs of the
/// calling thread, unless it has none yet (nullptr). One line says so where it comes too late, or makes no sense.
/// False: it is none of those that read_settings() reads. One caller at a time.
bool set_later(const char* name, const char* text, Icv* current);

/// OMP_DISPLAY_ENV's text on stderr, in libgomp's format.
void display_settings(bool verbose);

}  // namespace weft::openmp
