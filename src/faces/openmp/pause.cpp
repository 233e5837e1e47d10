#include "faces/openmp/pause.h"

#include "core/give_back.h"
#include "core/scheduler.h"
#include "faces/openmp/root.h"
#include "os/awaited_ends.h"

namespace weft::openmp {
namespace {

enum Pause { soft = 1, hard = 2 };

// Neither a region, if only of one thread, nor a target region or a task.
bool is_outside(const Member& member) {
  return member.team->level == 0 && member.team->standing == Standing::root && member.task == &member.implicit;
}

}  // namespace

// The threads of the calling root's regions hold the threadprivate variables: a soft pause keeps them. After a hard one
// they have been destroyed, as with both stock runtimes, which join these threads. First those that only lend what
// members are: destructors may open regions, and while they are at it no worker's KLT ends. (Bug: the pause returned
// while the threads were ending.)
bool pause_host(int kind) {
  if (kind != soft && kind != hard) return false;
  const Member& member = this_member();
  core::Worker& worker = *core::this_worker();
  if (!is_outside(member) || !core::is_root(*worker.current)) return false;
  if (kind == soft) {
    core::give_back(nullptr);
    return true;
  }
  os::AwaitedEnds* of_seats = os::begin_awaiting_ends();
  end_seats(worker, of_seats);
  os::wait_for_ends(of_seats);
  os::AwaitedEnds* of_workers = os::begin_awaiting_ends();
  core::give_back(of_workers);
  os::wait_for_ends(of_workers);
  return true;
}

}  // namespace weft::openmp
