#include "faces/openmp/ompt/entry_points.h"

#include <sched.h>

#include <cstring>
#include <iterator>

#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/records.h"
#include "faces/openmp/ompt/threads.h"
#include "faces/openmp/ompt/tool.h"
#include "faces/openmp/routines.h"

namespace weft::openmp::ompt {

constinit std::atomic<Function> callbacks[event_numbers];

namespace {

// ---------------------------------------------------------------- who is asked about

// The member that the calling thread is; nullptr if it has not come to the runtime, for which asking is no reason.
Member* known_member() {
  const core::Worker* worker = core::this_worker();
  if (worker == nullptr || worker->current == nullptr) return nullptr;
  return static_cast<Member*>(details(*worker->current).face);
}

ImplicitRecord* implicit_of(const Member& member) {
  const Record* record = record_of(member.implicit);
  return record != nullptr ? record->implicit : nullptr;
}

Thread* known_thread() {
  if (Thread* ending = thread_that_ends(); ending != nullptr) return ending;
  const Member* member = known_member();
  const ImplicitRecord* task = member != nullptr ? implicit_of(*member) : nullptr;
  return task != nullptr ? task->thread : nullptr;
}

// The member whose team is outside of that of `member`, as a tool sees them: the initial thread of a team at level 0
// within another is the same to it as the member around.
const Member* member_outside(const Member& member) {
  const ImplicitRecord* same = implicit_of(member);
  const Member* outside = member.team->master.parent;
  while (outside != nullptr && implicit_of(*outside) == same) outside = outside->team->master.parent;
  return outside;
}

// ---------------------------------------------------------------- states and callbacks

struct Name {
  int number;
  const char* name;
};

constexpr Name states[] = {
    {state_work_serial, "ompt_state_work_serial"},
    {state_work_parallel, "ompt_state_work_parallel"},
    {state_work_reduction, "ompt_state_work_reduction"},
    {state_wait_barrier_implicit_parallel, "ompt_state_wait_barrier_implicit_parallel"},
    {state_wait_barrier_implicit_workshare, "ompt_state_wait_barrier_implicit_workshare"},
    {state_wait_barrier_explicit, "ompt_state_wait_barrier_explicit"},
    {state_wait_barrier_implementation, "ompt_state_wait_barrier_implementation"},
    {state_wait_barrier_teams, "ompt_state_wait_barrier_teams"},
    {state_wait_taskwait, "ompt_state_wait_taskwait"},
    {state_wait_taskgroup, "ompt_state_wait_taskgroup"},
    {state_wait_lock, "ompt_state_wait_lock"},
    {state_wait_critical, "ompt_state_wait_critical"},
    {state_wait_atomic, "ompt_state_wait_atomic"},
    {state_wait_ordered, "ompt_state_wait_ordered"},
};

constexpr Name mutex_impls[] = {
    {mutex_impl_spin, "weft_mutex_impl_spin"},
    {mutex_impl_queuing, "weft_mutex_impl_queuing"},
};

// The entry behind that of `current`; `before_all` asks for the first.
template <std::size_t count>
int enumerate(const Name (&names)[count], int before_all, int current, int* next, const char** name) {
  std::size_t index = 0;
  if (current != before_all) {
    while (index < count && names[index].number != current) ++index;
    ++index;
  }
  if (index >= count) return 0;
  *next = names[index].number;
  *name = names[index].name;
  return 1;
}

int enumerate_states(int current, int* next, const char** name) {
  return enumerate(states, state_undefined, current, next, name);
}

int enumerate_mutex_impls(int current, int* next, const char** name) {
  return enumerate(mutex_impls, 0, current, next, name);
}

// How often the event of a number is told of. Compilers do some things without asking the runtime: GCC's loops with
// static schedules, masked and flush constructs, most reductions.
SetResult occurs(unsigned number) {
  switch (number) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 11:
    case 16:
    case 17:
    case 18:
    case 19:
    case 23:
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
    case 30:
      return SetResult::always;
    case 20:
    case 21:
    case 31:
      return SetResult::sometimes_paired;
    case 29:
    case 32:
    case 37:
      return SetResult::sometimes;
    case 8:
    case 9:
    case 10:
    case 12:
    case 13:
    case 14:
    case 15:
    case 22:
    case 33:
    case 34:
    case 35:
    case 36:
      return SetResult::never;  // of devices
    default:
      return SetResult::error;
  }
}

SetResult set_callback(unsigned number, Function callback) {
  const SetResult result = occurs(number);
  if (result != SetResult::error && result != SetResult::never)
    callbacks[number].store(callback, std::memory_order_release);
  return result;
}

int get_callback(unsigned number, Function* callback) {
  if (number == 0 || number >= event_numbers || callback == nullptr) return 0;
  const Function registered = callbacks[number].load(std::memory_order_acquire);
  if (registered == nullptr) return 0;
  *callback = registered;
  return 1;
}

// ---------------------------------------------------------------- threads, regions and tasks

Data* get_thread_data() {
  Thread* thread = known_thread();
  return thread != nullptr ? &thread->data : nullptr;
}

int get_state(std::uint64_t* wait_id) {
  Thread* thread = known_thread();
  if (thread == nullptr) return state_work_serial;  // one that is nothing to OpenMP, or not yet
  if (wait_id != nullptr) *wait_id = thread->wait_id.load(std::memory_order_relaxed);
  return thread->state.load(std::memory_order_relaxed);
}

// Sizes and numbers are those of the records: the initial thread of a team at level 0 within another is the member
// around.

int get_parallel_info(int level, Data** parallel_data, int* team_size) {
  if (level < 0) return 0;
  const Member* member = known_member();
  while (member != nullptr && level-- != 0) member = member_outside(*member);
  const ImplicitRecord* task = member != nullptr ? implicit_of(*member) : nullptr;
  if (task == nullptr) return 0;
  if (parallel_data != nullptr) *parallel_data = &task->region->data;
  if (team_size != nullptr) *team_size = static_cast<int>(task->region->size);
  return 2;
}

// Outwards from the task in hand: those that it interrupted, the implicit one, then from the one that opened the
// region.
int get_task_info(int level, int* flags, Data** task_data, Frame** frame, Data** parallel_data, int* thread_number) {
  if (level < 0) return 0;
  const Member* member = known_member();
  Record* record = member != nullptr && member->task != nullptr ? record_of(*member->task) : nullptr;
  while (record != nullptr && level-- != 0) {
    if (record->below != nullptr) {
      record = record->below;
      continue;
    }
    member = member_outside(*member);
    record = member != nullptr ? record_of(*member->task) : nullptr;
  }
  if (record == nullptr) return 0;
  if (flags != nullptr) *flags = record->flags;
  if (task_data != nullptr) *task_data = &record->data;
  if (frame != nullptr) *frame = &record->frame;
  if (parallel_data != nullptr) *parallel_data = &record->region->data;
  if (thread_number != nullptr) *thread_number = static_cast<int>(implicit_of(*member)->index);
  return 2;
}

// Of an explicit task, the data that it was created with.
int get_task_memory(void** address, std::size_t* size, int block) {
  if (address == nullptr || size == nullptr) return 0;
  *address = nullptr;
  *size = 0;
  const Member* member = known_member();
  const Record* record = member != nullptr && member->task != nullptr ? record_of(*member->task) : nullptr;
  if (block != 0 || record == nullptr) return 0;
  *address = record->memory;
  *size = record->memory_size;
  return 0;  // there is no further block
}

std::uint64_t get_unique_id() {
  static constinit std::atomic<std::uint64_t> given{0};
  return given.fetch_add(1, std::memory_order_relaxed) + 1;
}

// ---------------------------------------------------------------- places and devices

int get_num_procs() { return routines::get_num_procs(); }
int get_num_places() { return routines::get_num_places(); }

int get_place_proc_ids(int place, int size, int* ids) {
  if (!routines::is_place(place)) return 0;
  const os::CpuSet& cpus = places.sets[place];
  int count = 0;
  for (int cpu = cpus.next(0); cpu < os::CpuSet::most; cpu = cpus.next(cpu + 1), ++count)
    if (count < size && ids != nullptr) ids[count] = cpu;
  return count;
}

int get_place_num() {
  const Member* member = known_member();
  return member != nullptr && places.in_use() ? static_cast<int>(place_of(*member).place) : -1;
}

int get_partition_place_nums(int size, int* numbers) {
  const Member* member = known_member();
  if (member == nullptr || !places.in_use()) return 0;
  const MemberPlace at = place_of(*member);
  for (unsigned index = 0; index < at.count && static_cast<int>(index) < size; ++index)
    numbers[index] = static_cast<int>(at.first + index);
  return static_cast<int>(at.count);
}

int get_proc_id() { return known_thread() != nullptr ? sched_getcpu() : -1; }

int get_target_info(std::uint64_t*, std::uint64_t*, std::uint64_t*) { return 0; }  // no target region on a device

int get_num_devices() { return routines::get_num_devices(); }

struct EntryPoint {
  const char* name;
  Function function;
};

template <class Signature>
Function any(Signature* function) {
  return reinterpret_cast<Function>(function);
}

const EntryPoint entry_points[] = {
    {"ompt_enumerate_states", any(enumerate_states)},
    {"ompt_enumerate_mutex_impls", any(enumerate_mutex_impls)},
    {"ompt_set_callback", any(set_callback)},
    {"ompt_get_callback", any(get_callback)},
    {"ompt_get_thread_data", any(get_thread_data)},
    {"ompt_get_state", any(get_state)},
    {"ompt_get_parallel_info", any(get_parallel_info)},
    {"ompt_get_task_info", any(get_task_info)},
    {"ompt_get_task_memory", any(get_task_memory)},
    {"ompt_get_unique_id", any(get_unique_id)},
    {"ompt_finalize_tool", any(finish_tool)},
    {"ompt_get_num_procs", any(get_num_procs)},
    {"ompt_get_num_places", any(get_num_places)},
    {"ompt_get_place_proc_ids", any(get_place_proc_ids)},
    {"ompt_get_place_num", any(get_place_num)},
    {"ompt_get_partition_place_nums", any(get_partition_place_nums)},
    {"ompt_get_proc_id", any(get_proc_id)},
    {"ompt_get_target_info", any(get_target_info)},
    {"ompt_get_num_devices", any(get_num_devices)},
};

}  // namespace

Function look_up(const char* name) {
  for (const EntryPoint& entry : entry_points)
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  return nullptr;
}

}  // namespace weft::openmp::ompt
