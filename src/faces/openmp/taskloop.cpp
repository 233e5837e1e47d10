// The tasks of a taskloop as a range, split while it is run (after A. Tzannes, G. Caragea, R. Barua and U. Vishkin,
// "Lazy Binary-Splitting", PPoPP 2010).
//
// One descriptor stands for the tasks [first, last) of the loop. Whoever runs it makes the first of them, runs it as a
// call, with its descriptor and data on the stack (on the heap from a depth of 32 on), and goes on with the
// next. Before each it splits off the upper half, into a descriptor that others can steal, if the range is longer than
// a fair part (`longest`), or if nothing lies in its deque, so that somebody may be hungry. So there are about as many
// descriptors as steals, few tasks hide behind one that lasts, and those of a loop with few tasks lie open at once.
//
// Counts. The creator counts all tasks of the loop, as its children, in the taskgroup and in its seat, before the first
// range can be found. A range owes as many as it stands for; a half that is split off takes its part of the debt with
// it, so nothing is counted in splitting, which thus may be done by a member that is not the parent's runner. A range
// that ends has run at least one task. It pays for all but one of those that it ran (pay_for_tasks), and the last
// payment is that of an ordinary task: until then the parent, the group and the region cannot go.
//
// A range's fields are touched by its runner only: it is a task, and has one.
//
// Ranges are not made where each task has to be looked at (a tool, cancellation), where their data is more than bytes
// (constructors, which have to be called by the creator), where they have a priority or are undeferred, and where the
// creator's deque is full, or so many wait that they could not be counted: then tasks are created one by one, and run
// there.
//
// The tasks of a loop can be over before anybody else has come to them; and where a team has more members than there
// are workers, most of them may not have begun. So at the first tasks of such a region their creator gives way once the
// range has been split: others begin, wait for the region's end or at a barrier, and take their part.
#include "faces/openmp/taskloop.h"

#include <cstring>
#include <new>

#include "core/runtime.h"
#include "core/scheduler.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task_pool.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

namespace {

constexpr std::size_t most_data = 2048;              // the data of a task comes to lie on the stack
constexpr std::uint64_t most_tasks = 1U << 20U;      // of a loop
constexpr std::uint64_t most_counted = 1U << 30U;    // that wait, so that no count runs over
constexpr std::uint64_t parts_for_each_member = 8U;  // of the range, before it is split only where somebody is hungry

struct alignas(16) TaskRange {
  TaskLoop loop;
  TaskRequest chunk;
  std::uint64_t first, last;
  std::uint64_t longest;
  bool gives_way;  // after its first task
  void* pattern() { return this + 1; }
};

struct ChunkOfRange {
  const TaskLoop* loop;
  std::uint64_t task;
};

void set_bounds_of_chunk(void* data, void* context) {
  auto chunk = static_cast<const ChunkOfRange*>(context);
  const TaskLoop& loop = *chunk->loop;
  loop.set_bounds(loop, data, loop.dealt.first_of(chunk->task), loop.end_of(chunk->task));
}

void run_range(void* data);

TaskRequest request_for_range(const TaskRequest& chunk) {
  TaskRequest request{run_range, nullptr, nullptr, sizeof(TaskRange) + chunk.size, alignof(TaskRange)};
  request.final_ = chunk.final_;
  request.tied = chunk.tied;
  return request;
}

void fill(Task& task, const TaskRange& from, const void* pattern) {
  auto range = new (task.data) TaskRange(from);
  std::memcpy(range->pattern(), pattern, from.chunk.size);
  range->chunk.data = range->pattern();
}

void split_off(Member& member, TaskRange& range) {
  const std::uint64_t middle = range.last - (range.last - range.first) / 2;
  TaskRange upper = range;
  upper.first = middle;
  upper.gives_way = false;
  Task& task = allocate_beside(*member.task, request_for_range(range.chunk));
  fill(task, upper, range.pattern());
  range.last = middle;
  enqueue(member, task);
}

// Until one of them has taken something, but not for long.
void let_others_begin(Member& member) {
  constexpr unsigned most_yields = 4;
  const std::size_t before = seat_of(member).deque.size();
  for (unsigned count = 0; count < most_yields && seat_of(member).deque.size() >= before; ++count) core::yield();
}

void run_range(void* data) {
  auto& range = *static_cast<TaskRange*>(data);
  Member& member = this_member();
  const std::uint64_t begun = range.first;
  do {
    while (range.last - range.first > range.longest) split_off(member, range);
    if (range.last - range.first > 1 && seat_of(member).deque.looks_empty()) split_off(member, range);
    ChunkOfRange chunk{&range.loop, range.first++};
    create_task(member, range.chunk, set_bounds_of_chunk, &chunk);
    if (range.gives_way) [[unlikely]] {
      range.gives_way = false;
      let_others_begin(member);
    }
  } while (range.first != range.last);
  pay_for_tasks(member, static_cast<std::uint32_t>(range.first - begun - 1));
}

// The team counts what waits in 32 bits, where no more ranges wait than are plenty; the parent and the taskgroup in 31,
// of whatever there is. Members that come at once may all find room. (Bug: the loops of a taskgroup, 2^31 tasks in all,
// counted for none, and the group ended before them.)
bool can_be_counted(const Team& team, const Task& parent, std::uint64_t tasks) {
  const Taskgroup* group = parent.group;
  return tasks <= most_tasks && tasks <= most_counted / (usual_plenty_of_tasks * team.size) &&
         parent.family.children() + tasks <= most_counted &&
         (group == nullptr || group->count.value() + tasks <= most_counted);
}

}  // namespace

bool create_in_ranges(Member& member, const TaskLoop& loop, const TaskRequest& chunk) {
  const Team& team = *member.team;
  if (settings.attends_tasks || team.level == 0 || team.size == 1 || member.task->final_) return false;
  if (!chunk.deferrable || chunk.priority > 0 || chunk.copy != nullptr || chunk.size > most_data) return false;
  const std::uint64_t tasks = loop.dealt.tasks;
  if (tasks == 1 || has_plenty(member) || !can_be_counted(team, *member.task, tasks)) return false;
  Task& task = allocate_task(member, request_for_range(chunk));
  const bool gives_way = team.size > core::runtime.active.load(std::memory_order_relaxed) &&
                         !team.tasks.used.load(std::memory_order_relaxed);
  TaskRange range{loop, chunk, 0, tasks, tasks / (parts_for_each_member * team.size) + 1, gives_way};
  range.chunk.deferrable = false;
  fill(task, range, chunk.data);
  submit_for_tasks(member, task, static_cast<std::uint32_t>(tasks));
  return true;
}

Deal deal(std::uint64_t trips, std::uint64_t number, bool is_grainsize, bool strict, std::uint64_t team_size) {
  if (is_grainsize && number != 0) {
    if (strict) return {(trips - 1) / number + 1, number, 0};
    const std::uint64_t tasks = trips / number;
    if (tasks <= 1) return {1, trips, 0};
    return {tasks, trips / tasks, trips % tasks};
  }
  std::uint64_t tasks = number != 0 ? number : team_size;
  if (tasks > trips) tasks = trips;
  return {tasks, trips / tasks, trips % tasks};
}

}  // namespace weft::openmp
