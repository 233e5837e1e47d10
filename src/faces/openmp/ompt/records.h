// What the runtime keeps for a tool about threads, parallel regions and tasks. All of this exists only where there is a
// tool.
//
// A thread, to a tool, is what OpenMP calls one: never a worker, nor a kernel thread. A root is one for as long as it
// lives. The members of its outermost teams are its threads by their numbers, from region to region, as for
// threadprivate variables. Members of other teams, teams of a league among them, each have a thread from a pool for
// the life of their region. To each belongs an identity (os/identity.h), on which its member runs wherever it runs and
// however often it is suspended: so a tool's own thread-local storage is that of its threads, and ThreadSanitizer,
// whose threads are known to it by their storage, sees the same threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/stack.h"
#include "faces/openmp/member.h"
#include "faces/openmp/ompt/interface.h"
#include "faces/openmp/ompt/watched.h"
#include "faces/openmp/root.h"
#include "os/identity.h"

namespace weft::openmp::ompt {

/// What is stated of a region before it is opened.
struct NextRegion {
  const void* code = nullptr;
  unsigned requested = 0;  // threads, or teams; 0: not stated
  unsigned flags = invoked_by_runtime | parallel_team;
};

struct Thread {
  Data data;
  os::Identity* identity = nullptr;
  core::Stack* stack = nullptr;  // where its member runs, if that must always be the same (sanitized_program.h)
  Thread* next = nullptr;        // in the pool
  Thread* next_known = nullptr;  // in the list of all
  ThreadKind kind = ThreadKind::worker;
  bool begun = false;
  bool ended = false;
  std::atomic<bool> busy{false};  // a member is this thread
  std::atomic<int> state{state_work_serial};
  std::atomic<std::uint64_t> wait_id{0};
  const void* code = nullptr;  // where the call of the runtime that it is in came from
  NextRegion next_region;
};

struct Region;
struct ImplicitRecord;

/// What a task with an event has come to first. A tool is told of the fulfilment by whoever finds that it was not
/// discarded before.
enum class Detached : int { nothing, body_ended, fulfilled, discarded };

/// Of a task.
struct Record {
  Data data;
  Frame frame = {{}, {}, frame_of_runtime | frame_is_cfa, frame_of_runtime | frame_is_cfa};
  int flags = 0;
  ImplicitRecord* implicit = nullptr;  // of the member that executes it; nullptr: not begun
  Region* region = nullptr;            // its team's
  Record* below = nullptr;             // explicit: the one that was interrupted for it
  int state_before = state_undefined;  // explicit, and begun: the thread's
  std::atomic<unsigned> users{1};      // the task itself, its event, and what refers to it as a predecessor
  std::atomic<Detached> detached{Detached::nothing};
  void* memory = nullptr;  // explicit: the data that it was created with
  std::size_t memory_size = 0;
  bool is_chunk = false;  // of a taskloop
  DispatchChunk chunk{};
};

/// Of an implicit or initial task.
struct ImplicitRecord : Record {
  Thread* thread = nullptr;
  unsigned index = 0;
  bool single_is_open = false;          // it executes a single region whose end the compiler does not tell
  bool yields = false;                  // the next switch is a taskyield's
  WorkKind loop_kind = WorkKind::none;  // of the worksharing construct that it is in
  const void* loop_code = nullptr;
  std::uint64_t loop_count = 0;
  bool next_is_chunk = false;  // the task that is created next is one of a taskloop
  DispatchChunk next_chunk{};
};

/// Threads from the pool, by number, that an initial team keeps for the regions that it opens; and their identities.
struct KeptThreads {
  Thread** threads = nullptr;
  Seats seats;
};

/// A parallel region, or a league.
struct Region {
  Data data;
  const void* code = nullptr;
  unsigned flags = 0;
  unsigned size = 1;
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  Thread** threads = nullptr;            // by number, the opener's first
  ImplicitRecord* tasks = nullptr;       // by number
  WorkKind combined = WorkKind::none;    // the worksharing construct that the region consists of
  bool defers = false;                   // of one member, which has tasks that are run later
  bool keeps_frame = false;              // the frame of the task that opened it is to be taken back
  KeptThreads own;                       // of an inner region: its threads
  int state_before = state_work_serial;  // of the thread that opened it
};

/// The calling thread, for those who tell a tool of what it does. It is a member by then, and if it was none before,
/// the tool has been started or refused.
class Here {
 public:
  Here() : Here(this_member()) {}
  explicit Here(Member& calling);

  Member& member;
  Record& task;
  ImplicitRecord& implicit;
  Thread& thread;
  Region& region;

  Data* parallel_data() const { return &region.data; }
  Data* task_data() const { return &task.data; }
};

/// nullptr where no tool watches.
inline Record* record_of(const Task& task) { return watched ? task.notes.record : nullptr; }

void release(Record& record);

/// The program has called the runtime, which returns to it at the end of the object's life. Makes it known in the
/// task's frame.
class Call {
 public:
  explicit Call(Caller caller)
      : code(caller.code), frame_before_(here.task.frame.enter.pointer), code_before_(here.thread.code) {
    here.task.frame.enter.pointer = caller.frame;
    here.thread.code = caller.code;
  }
  ~Call() {
    here.task.frame.enter.pointer = frame_before_;
    here.thread.code = code_before_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Here here;
  const void* code;

 private:
  void* frame_before_;
  const void* code_before_;
};

template <class Function>
[[gnu::noinline, gnu::cold]] auto in_call(Caller caller, const Function& action) {
  const Call call(caller);
  return action();
}

/// Does what the program asks for, in a Call if anybody watches.
template <class Function>
inline auto from_program(Caller caller, const Function& action) {
  if (watched) [[unlikely]]
    return in_call(caller, action);
  return action();
}

/// The thread is in another state for as long as the object lives.
class InState {
 public:
  InState(Thread& thread, int state, std::uint64_t wait_id = 0)
      : thread_(thread), before_(thread.state.load(std::memory_order_relaxed)) {
    thread.wait_id.store(wait_id, std::memory_order_relaxed);
    thread.state.store(state, std::memory_order_relaxed);
  }
  ~InState() {
    thread_.state.store(before_, std::memory_order_relaxed);
    thread_.wait_id.store(0, std::memory_order_relaxed);
  }
  InState(const InState&) = delete;
  InState& operator=(const InState&) = delete;

 private:
  Thread& thread_;
  int before_;
};

/// The program's code that follows is called from the frame at that address.
inline void set_exit_frame(Record& record, void* frame) { record.frame.exit.pointer = frame; }

}  // namespace weft::openmp::ompt
