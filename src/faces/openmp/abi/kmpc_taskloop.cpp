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

std::uint64_t& word_at(LlvmTask* task, std::size_t offset) {
  return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(task) + offset);
}

void set_bounds(const TaskLoop& loop, LlvmTask* task, std::uint64_t first, std::uint64_t last) {
  word_at(task, loop.lower_at) = loop.begin + first * loop.step;
  word_at(task, loop.upper_at) = loop.begin + (last - 1) * loop.step;
}

void set_bounds_of_chunk(const TaskLoop& loop, void* data, std::uint64_t first, std::uint64_t last) {
  set_bounds(loop, llvm_task_in_copy(data), first, last);
}

void create_one_by_one(Member& member, const TaskLoop& loop, LlvmTask* pattern, bool deferrable,
                       DuplicateData duplicate) {
  for (std::uint64_t index = 0; index < loop.dealt.tasks; ++index) {
    const std::uint64_t first = loop.dealt.first_of(index), last = loop.end_of(index);
    LlvmTask* task = duplicate_llvm_task(member, pattern);
    set_bounds(loop, task, first, last);
    if (duplicate != nullptr) duplicate(task, pattern, last == loop.trips ? 1 : 0);
    if (ompt::watched) ompt::next_task_is_chunk(member, loop.begin + first * loop.step, last - first);
    submit_llvm_task(member, task, nullptr, deferrable);
  }
}

bool create_in_ranges(Member& member, const TaskLoop& loop, LlvmTask* pattern, bool deferrable,
                      DuplicateData duplicate) {
  const std::int32_t not_for_copies = llvm_has_destroy | llvm_proxy;
  if (duplicate != nullptr || (preamble_of(pattern).flags & not_for_copies) != 0) return false;
  TaskRequest chunk = request_like(pattern);
  chunk.deferrable = deferrable;
  return create_in_ranges(member, loop, chunk);
}

void create_taskloop(LlvmTask* pattern, bool deferrable, Bounds bounds, bool group, TaskloopSchedule schedule,
                     std::uint64_t number, bool strict, DuplicateData duplicate) {
  Member& member = this_member();
  if (group) ompt::open_group(member);
  const std::uint64_t trips = bounds.trips();
  if (ompt::watched) ompt::taskloop_changes(member, ompt::Endpoint::begin, trips);
  if (trips != 0) {
    const auto offset = [pattern](const std::uint64_t* place) {
      return static_cast<std::size_t>(reinterpret_cast<const char*>(place) - reinterpret_cast<const char*>(pattern));
    };
    const Deal dealt = deal(trips, schedule != 0 ? number : 0, schedule == by_grainsize, strict, member.team->size);
    const auto step = static_cast<std::uint64_t>(bounds.step);
    const TaskLoop loop{
        dealt, trips, *bounds.lower, step, set_bounds_of_chunk, offset(bounds.lower), offset(bounds.upper)};
    if (!create_in_ranges(member, loop, pattern, deferrable, duplicate))
      create_one_by_one(member, loop, pattern, deferrable, duplicate);
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
