// LLVM's entry points for taskloop. The compiler makes one task, which is the pattern of all others.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc_task.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/tasks.h"
#include "faces/openmp/taskloop.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

enum TaskloopSchedule : std::int32_t { by_grainsize = 1, by_num_tasks = 2 };

// Copies what the program's classes want to have copied, and notes in the task whether it has the last iteration.
using DuplicateData = void (*)(LlvmTask* to, LlvmTask* from, std::int32_t last);

std::uint64_t& same_place(LlvmTask* in, LlvmTask* pattern, const std::uint64_t* place) {
  const auto offset = reinterpret_cast<const char*>(place) - reinterpret_cast<const char*>(pattern);
  return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(in) + offset);
}

struct Bounds {
  std::uint64_t* lower;
  std::uint64_t* upper;  // inclusive
  std::int64_t step;

  std::uint64_t trips() const {
    if (step == 1) return *upper - *lower + 1;
    const auto stride = static_cast<std::uint64_t>(step);
    return step > 0 ? (*upper - *lower) / stride + 1 : (*lower - *upper) / (0 - stride) + 1;
  }
};

void create_taskloop(LlvmTask* pattern, bool deferrable, Bounds bounds, bool group, TaskloopSchedule schedule,
                     std::uint64_t number, bool strict, DuplicateData duplicate) {
  Member& member = this_member();
  if (group) ompt::open_group(member);
  const std::uint64_t trips = bounds.trips();
  const std::uint64_t begin = *bounds.lower;
  const auto step = static_cast<std::uint64_t>(bounds.step);
  if (ompt::watched) ompt::taskloop_changes(member, ompt::Endpoint::begin, trips);
  if (trips != 0) {
    const Deal dealt = deal(trips, schedule != 0 ? number : 0, schedule == by_grainsize, strict, member.team->size);
    std::uint64_t first = 0;
    for (std::uint64_t index = 0; index < dealt.tasks; ++index) {
      const std::uint64_t wanted = dealt.each + (index < dealt.longer ? 1 : 0);
      const std::uint64_t last = trips - first < wanted ? trips : first + wanted;
      LlvmTask* task = duplicate_llvm_task(member, pattern);
      same_place(task, pattern, bounds.lower) = begin + first * step;
      same_place(task, pattern, bounds.upper) = begin + (last - 1) * step;
      if (duplicate != nullptr) duplicate(task, pattern, last == trips ? 1 : 0);
      if (ompt::watched) ompt::next_task_is_chunk(member, begin + first * step, last - first);
      submit_llvm_task(member, task, nullptr, deferrable);
      first = last;
    }
  }
  delete_llvm_task(pattern);
  if (ompt::watched) ompt::taskloop_changes(member, ompt::Endpoint::end, trips);
  if (group) ompt::close_group(member);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_taskloop(Ident*, Gtid, LlvmTask* pattern, std::int32_t condition, std::uint64_t* lower,
                                 std::uint64_t* upper, std::int64_t step, std::int32_t nogroup, std::int32_t schedule,
                                 std::uint64_t number, DuplicateData duplicate) {
  ompt::from_program(WEFT_CALLER, [&] {
    create_taskloop(pattern, condition != 0, {lower, upper, step}, nogroup == 0,
                    static_cast<TaskloopSchedule>(schedule), number, false, duplicate);
  });
}
WEFT_EXPORT void __kmpc_taskloop_5(Ident*, Gtid, LlvmTask* pattern, std::int32_t condition, std::uint64_t* lower,
                                   std::uint64_t* upper, std::int64_t step, std::int32_t nogroup, std::int32_t schedule,
                                   std::uint64_t number, std::int32_t strict, DuplicateData duplicate) {
  ompt::from_program(WEFT_CALLER, [&] {
    create_taskloop(pattern, condition != 0, {lower, upper, step}, nogroup == 0,
                    static_cast<TaskloopSchedule>(schedule), number, strict != 0, duplicate);
  });
}
