#include "faces/openmp/pause.h"

#include "core/give_back.h"
#include "core/scheduler.h"
#include "faces/openmp/root.h"

namespace weft::openmp {
namespace {

enum Pause { soft = 1, hard = 2 };

// Neither a region, if only of one thread, nor a target region or a task.
bool is_outside(const Member& member) {
  return member.team->level == 0 && member.team->standing == Standing::root && member.task == &member.implicit;
}

}  // namespace

// The threads of the calling root's regions hold the threadprivate variables: a soft pause keeps them.
bool pause_host(int kind) {
  if (kind != soft && kind != hard) return false;
  const Member& member = this_member();
  core::Worker& worker = *core::this_worker();
  if (!is_outside(member) || !core::is_root(*worker.current)) return false;
  if (kind == hard) end_seats(worker);
  core::give_back();
  return true;
}

}  // namespace weft::openmp
