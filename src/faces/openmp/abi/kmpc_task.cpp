// LLVM's entry points for tasks, taskwait, taskgroup and taskyield.
//
// An untied task is cut into parts by the compiler: at a scheduling point it submits itself again and returns. As
// untied tasks are run as tied ones, its parts are run one after the other.
#include "faces/openmp/abi/kmpc_task.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/layout.h"
#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/tasks.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/spare_task.h"
#include "faces/openmp/team.h"
#include "faces/openmp/thread_number.h"

namespace weft::openmp {
namespace {

constexpr std::size_t task_alignment = base::cache_line;  // of the program's structure

LlvmTask* llvm_task_in(void* data) {
  const auto first = reinterpret_cast<std::uintptr_t>(data) + sizeof(TaskPreamble);
  return reinterpret_cast<LlvmTask*>((first + task_alignment - 1) & ~(task_alignment - 1));
}

void run_parts(LlvmTask* task) {
  TaskPreamble& preamble = preamble_of(task);
  preamble.begun = true;
  const Gtid thread = thread_number();
  do {
    preamble.goes_on = false;
    task->routine(thread, task);
  } while (preamble.goes_on);
}

void end_llvm_task(LlvmTask* task) {
  if ((preamble_of(task).flags & llvm_has_destroy) != 0) task->destroy(thread_number(), task);
}

// Tasks with destructors come here even if they are cancelled.
void run_llvm_task(void* data) {
  LlvmTask* task = llvm_task_in(data);
  if (!settings.cancellation || !is_cancelled(*this_member().team, *preamble_of(task).task)) [[likely]]
    run_parts(task);
  end_llvm_task(task);
}

// The same where a tool is told of the frame that the program's code is called from.
[[gnu::noinline]] void run_watched_parts(LlvmTask* task) {
  TaskPreamble& preamble = preamble_of(task);
  ompt::set_exit_frame(*ompt::record_of(*preamble.task), __builtin_frame_address(0));
  preamble.begun = true;
  do {
    preamble.goes_on = false;
    task->routine(thread_number(), task);
  } while (preamble.goes_on);
}

void run_watched_llvm_task(void* data) {
  LlvmTask* task = llvm_task_in(data);
  if (!settings.cancellation || !is_cancelled(*this_member().team, *preamble_of(task).task)) run_watched_parts(task);
  end_llvm_task(task);
}

enum LlvmDependenceFlag : std::uint8_t { llvm_in = 1, llvm_out = 2, llvm_mutex = 4, llvm_set = 8, llvm_all = 0x80 };

Dependence translate(const LlvmDependence& dependence) {
  constexpr std::intptr_t everything = -1;
  const std::uint8_t flags = dependence.flags;
  if ((flags & llvm_all) != 0 || dependence.address == everything) return {nullptr, Access::writes};
  const auto address = reinterpret_cast<const void*>(dependence.address);
  if ((flags & llvm_out) != 0) return {address, Access::writes};
  if ((flags & llvm_mutex) != 0) return {address, Access::excludes};
  return {address, (flags & llvm_set) != 0 ? Access::sets : Access::reads};
}

Dependence translated(const void* source, std::size_t index) { return static_cast<const Dependence*>(source)[index]; }

// Two arrays as one list; an address of 0 is nobody's.
DependenceList collect(Dependence* into, std::int32_t count, const LlvmDependence* first, std::int32_t more,
                       const LlvmDependence* second) {
  std::size_t used = 0;
  const auto add = [&](std::int32_t entries, const LlvmDependence* list) {
    for (std::int32_t index = 0; index < entries; ++index)
      if (list[index].address != 0 || (list[index].flags & llvm_all) != 0) into[used++] = translate(list[index]);
  };
  add(count, first);
  add(more, second);
  return {into, used, translated};
}

[[gnu::noinline, gnu::cold]] void begin_watched_undeferred(ompt::Caller caller, TaskPreamble& preamble, void* frame) {
  ompt::Record* creator = nullptr;
  {
    const ompt::Call call(caller);
    creator = &call.here.task;
    begin_watched_undeferred_task(call.here.member, *preamble.task, preamble.size + preamble.shared_size);
  }
  creator->frame.enter.pointer = caller.frame;  // until the end
  ompt::set_exit_frame(*ompt::record_of(*preamble.task), frame);
}

// Never none.
std::size_t list_bytes(std::int32_t count, std::int32_t more) {
  return (static_cast<std::size_t>(count > 0 ? count : 0) + static_cast<std::size_t>(more > 0 ? more : 0) + 1) *
         sizeof(Dependence);
}

// Memory for a list that is too long for the stack; nullptr: it is not. (Bug: that of a clause with an iterator ran
// over it.)
inline void* memory_for_long(std::size_t bytes) {
  constexpr std::size_t most_on_stack = 256 * sizeof(Dependence);
  if (bytes <= most_on_stack) [[likely]]
    return nullptr;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) base::panic("no memory for %zu bytes of dependences", bytes);
  return memory;
}

inline void free_long(void* memory) {
  if (memory != nullptr) [[unlikely]]
    std::free(memory);
}

[[gnu::noinline, gnu::cold]] void submit_watched(Member& member, const TaskPreamble& preamble,
                                                 const DependenceList* depend, bool deferrable) {
  preamble.task->function = run_watched_llvm_task;
  submit_watched_task(member, *preamble.task, preamble.size + preamble.shared_size, depend, deferrable);
}

// Without dependences.
[[gnu::noinline, gnu::cold]] void submit_in_call(ompt::Caller caller, LlvmTask* task) {
  const ompt::Call call(caller);
  submit_llvm_task(call.here.member, task, nullptr, true);
}

constexpr std::size_t own_size(std::size_t size) { return base::round_up(size, alignof(void*)); }

// Behind the descriptor of a task with so much of its own.
constexpr std::size_t data_size(std::size_t own, std::size_t shared_size) {
  return sizeof(TaskPreamble) + task_alignment + own + shared_size;
}

// Of one that is there for its dependences alone.
std::int32_t do_nothing(Gtid, LlvmTask*) { return 0; }

[[gnu::always_inline]] inline LlvmTask* prepare(Task& task, std::int32_t flags, std::size_t own,
                                                std::size_t shared_size, TaskRoutine routine) {
  LlvmTask* made = llvm_task_in(task.data);
  new (&preamble_of(made)) TaskPreamble{&task, own, shared_size, flags};
  made->shared = shared_size != 0 ? reinterpret_cast<char*>(made) + own : nullptr;
  made->routine = routine != nullptr ? routine : do_nothing;
  made->part = 0;
  return made;
}

}  // namespace

LlvmTask* allocate_llvm_task(Member& member, std::int32_t flags, std::size_t size, std::size_t shared_size,
                             TaskRoutine routine) {
  const std::size_t own = own_size(size);
  Task& task = allocate_usual_task(member, run_llvm_task, data_size(own, shared_size), (flags & llvm_final) != 0,
                                   (flags & llvm_tied) != 0);
  if ((flags & llvm_proxy) != 0) attach_event(task, make_event(member));
  task.must_run = (flags & llvm_has_destroy) != 0;
  return prepare(task, flags, own, shared_size, routine);
}

LlvmTask* duplicate_llvm_task(Member& member, LlvmTask* task) {
  const TaskPreamble& preamble = preamble_of(task);
  LlvmTask* made = allocate_llvm_task(member, preamble.flags, preamble.size, preamble.shared_size, task->routine);
  void* shared = made->shared;
  std::memcpy(static_cast<void*>(made), static_cast<const void*>(task), preamble.size + preamble.shared_size);
  made->shared = shared;
  return made;
}

// The data is aligned as the structure is, which thus begins one alignment behind it.
TaskRequest request_like(LlvmTask* task) {
  static_assert(sizeof(TaskPreamble) <= task_alignment);
  const TaskPreamble& preamble = preamble_of(task);
  TaskRequest request{run_llvm_task, reinterpret_cast<char*>(task) - task_alignment, nullptr,
                      task_alignment + preamble.size + preamble.shared_size, task_alignment};
  request.final_ = (preamble.flags & llvm_final) != 0;
  request.tied = (preamble.flags & llvm_tied) != 0;
  if ((preamble.flags & llvm_has_priority) != 0) request.priority = task->priority;
  return request;
}

LlvmTask* llvm_task_in_copy(void* data) {
  LlvmTask* task = llvm_task_in(data);
  TaskPreamble& preamble = preamble_of(task);
  preamble.task = nullptr;  // only tools, cancellation and undeferred tasks look for it
  task->shared = preamble.shared_size != 0 ? reinterpret_cast<char*>(task) + preamble.size : nullptr;
  return task;
}

void delete_llvm_task(LlvmTask* task) {
  end_llvm_task(task);
  discard_task(*preamble_of(task).task);
}

void submit_llvm_task(Member& member, LlvmTask* task, const DependenceList* depend, bool deferrable) {
  const TaskPreamble& preamble = preamble_of(task);
  if ((preamble.flags & llvm_has_priority) != 0) set_priority(*preamble.task, task->priority);
  if (ompt::watched) [[unlikely]]
    return submit_watched(member, preamble, depend, deferrable);
  submit_task(member, *preamble.task, depend, deferrable && !member.task->final_);
}

}  // namespace weft::openmp

using namespace weft::openmp;

namespace {

[[gnu::noinline]] LlvmTask* allocate_new(std::int32_t flags, std::size_t size, std::size_t shared_size,
                                         TaskRoutine routine) {
  return allocate_llvm_task(this_member(), flags, size, shared_size, routine);
}

}  // namespace

WEFT_EXPORT LlvmTask* __kmpc_omp_task_alloc(Ident*, Gtid, std::int32_t flags, std::size_t size, std::size_t shared_size,
                                            TaskRoutine routine) {
  Member* member = known_member();
  if (member == nullptr || (flags & (llvm_proxy | llvm_has_destroy)) != 0) [[unlikely]]
    return allocate_new(flags, size, shared_size, routine);
  const std::size_t own = own_size(size);
  // allocate_new() would find it as well; small nested tasks take up to 16 % longer that way.
  Task* task = take_spare_task(*member, run_llvm_task, data_size(own, shared_size), (flags & llvm_final) != 0,
                               (flags & llvm_tied) != 0);
  if (task == nullptr) return allocate_new(flags, size, shared_size, routine);
  return prepare(*task, flags, own, shared_size, routine);
}
// For a target construct with nowait: on the host, a task like others.
WEFT_EXPORT LlvmTask* __kmpc_omp_target_task_alloc(Ident*, Gtid, std::int32_t flags, std::size_t size,
                                                   std::size_t shared_size, TaskRoutine routine, std::int64_t) {
  return allocate_llvm_task(this_member(), flags, size, shared_size, routine);
}

WEFT_EXPORT std::int32_t __kmpc_omp_task(Ident*, Gtid, LlvmTask* task) {
  TaskPreamble& preamble = preamble_of(task);
  if (preamble.begun) {
    preamble.goes_on = true;
    return 0;
  }
  if (ompt::watched) [[unlikely]] {
    submit_in_call(WEFT_CALLER, task);
    return 0;
  }
  Member& member = this_member();
  if ((preamble.flags & llvm_has_priority) != 0 || member.task->final_) [[unlikely]]
    submit_llvm_task(member, task, nullptr, true);
  else
    submit_usual_task(member, *preamble.task);
  return 0;
}
WEFT_EXPORT std::int32_t __kmpc_omp_task_parts(Ident* place, Gtid thread, LlvmTask* task) {
  return __kmpc_omp_task(place, thread, task);
}

WEFT_EXPORT std::int32_t __kmpc_omp_task_with_deps(Ident* place, Gtid thread, LlvmTask* task, std::int32_t count,
                                                   const LlvmDependence* first, std::int32_t more,
                                                   const LlvmDependence* second) {
  if (preamble_of(task).begun) return __kmpc_omp_task(place, thread, task);
  const std::size_t bytes = list_bytes(count, more);
  void* kept = memory_for_long(bytes);
  void* into = kept != nullptr ? kept : __builtin_alloca(bytes);
  const DependenceList list = collect(static_cast<Dependence*>(into), count, first, more, second);
  ompt::from_program(WEFT_CALLER,
                     [&] { submit_llvm_task(this_member(), task, list.count != 0 ? &list : nullptr, true); });
  free_long(kept);
  return 0;
}

// if(0): the compiler calls the task's routine between these two.
WEFT_EXPORT void __kmpc_omp_task_begin_if0(Ident*, Gtid, LlvmTask* task) {
  TaskPreamble& preamble = preamble_of(task);
  preamble.begun = true;
  if (ompt::watched) [[unlikely]]
    return begin_watched_undeferred(WEFT_CALLER, preamble, WEFT_FRAME_OF_CALLER);
  begin_undeferred_task(this_member(), *preamble.task);
}
WEFT_EXPORT void __kmpc_omp_task_complete_if0(Ident*, Gtid, LlvmTask* task) {
  while (preamble_of(task).goes_on) run_parts(task);
  end_llvm_task(task);
  end_undeferred_task(this_member(), *preamble_of(task).task);
  if (ompt::watched) [[unlikely]]
    ompt::Here().task.frame.enter.pointer = nullptr;
}

WEFT_EXPORT std::int32_t __kmpc_omp_taskwait(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    ompt::synchronise(WEFT_CALLER, ompt::SyncKind::taskwait, wait_for_children);
  else
    wait_for_children(this_member());
  return 0;
}
WEFT_EXPORT std::int32_t __kmpc_omp_taskyield(Ident*, Gtid, int) {
  if (ompt::watched) [[unlikely]]
    ompt::watched_yield(WEFT_CALLER);
  else
    yield_task(this_member());
  return 0;
}

WEFT_EXPORT void __kmpc_omp_taskwait_deps_51(Ident*, Gtid, std::int32_t count, const LlvmDependence* first,
                                             std::int32_t more, const LlvmDependence* second, std::int32_t nowait) {
  const std::size_t bytes = list_bytes(count, more);
  void* kept = memory_for_long(bytes);
  void* into = kept != nullptr ? kept : __builtin_alloca(bytes);
  const DependenceList list = collect(static_cast<Dependence*>(into), count, first, more, second);
  if (list.count != 0) ompt::from_program(WEFT_CALLER, [&] { wait_for_dependences(this_member(), list, nowait == 0); });
  free_long(kept);
}
WEFT_EXPORT void __kmpc_omp_wait_deps(Ident* place, Gtid thread, std::int32_t count, const LlvmDependence* first,
                                      std::int32_t more, const LlvmDependence* second) {
  __kmpc_omp_taskwait_deps_51(place, thread, count, first, more, second, 0);
}

// A hint where to run the task: members go where their places are, tasks go to members.
WEFT_EXPORT std::int32_t __kmpc_omp_reg_task_with_affinity(Ident*, Gtid, LlvmTask*, std::int32_t, const void*) {
  return 0;
}

// The detach clause. The compiler puts the event into the program's variable.
WEFT_EXPORT Event* __kmpc_task_allow_completion_event(Ident*, Gtid, LlvmTask* task) {
  Task& of = *preamble_of(task).task;
  if (of.event == nullptr) attach_event(of, make_event(this_member()));
  return of.event;
}

// A proxy task is complete when somebody says so, who may be no thread of OpenMP (_ooo).
WEFT_EXPORT void __kmpc_proxy_task_completed(Gtid, LlvmTask* task) { fulfil_event(preamble_of(task).task->event); }
WEFT_EXPORT void __kmpc_proxy_task_completed_ooo(LlvmTask* task) { fulfil_event(preamble_of(task).task->event); }

// What a task that has been submitted waits for and is waited for by, where a program looks into it.
WEFT_EXPORT const Dependences* __kmpc_task_get_depnode(LlvmTask* task) { return preamble_of(task).task->dependences; }
WEFT_EXPORT const Edge* __kmpc_task_get_successors(LlvmTask* task) { return successors_of(*preamble_of(task).task); }

WEFT_EXPORT std::uint64_t __kmpc_get_taskid() { return reinterpret_cast<std::uintptr_t>(this_member().task); }
WEFT_EXPORT std::uint64_t __kmpc_get_parent_taskid() {
  const Member& member = this_member();
  if (member.task->explicit_) return reinterpret_cast<std::uintptr_t>(member.task->parent);
  const Member* opener = member.team->master.parent;
  return opener != nullptr ? reinterpret_cast<std::uintptr_t>(opener->task) : 0;
}
