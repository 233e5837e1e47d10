#include "faces/openmp/ompt/sanitized_program.h"

#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/watchdog.h"
#include "faces/openmp/blocks.h"
#include "faces/openmp/ompt/records.h"

// Of ThreadSanitizer's runtime; nullptr in a process without it.
extern "C" [[gnu::weak, gnu::visibility("default")]] void __tsan_func_exit();

namespace weft::openmp::ompt {
namespace {

bool stacks_belong_to_threads = false;

}  // namespace

bool program_is_thread_sanitized() { return &__tsan_func_exit != nullptr; }

void adapt_to_sanitized_program() {
  if (!program_is_thread_sanitized()) return;
  stacks_belong_to_threads = true;
  core::disable_watchdog();
  keep_no_blocks();
}

bool members_have_stacks() { return stacks_belong_to_threads; }

core::Stack* stack_for(Team& team, unsigned number) {
  Thread& thread = *team.watched->threads[number];
  if (thread.stack == nullptr) thread.stack = core::this_worker()->stacks.take(core::runtime.config.stack_size);
  return thread.stack;
}

}  // namespace weft::openmp::ompt
