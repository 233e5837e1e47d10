// Dependences between sibling tasks (OpenMP 5.2, 15.9.5).
//
// The creator of the siblings is one thread, so the table of addresses needs no lock. What races is
// the creator, adding an edge from a task that is about to complete, with that task's completion: the
// list of successors is a stack that completion closes by one exchange, and to which nothing can be
// added once it is closed.
//
// For each address the table holds the last generation of tasks that may run beside each other (one writer; or all that
// read; or those with inoutset; or those with mutexinoutset) and the generation before it, which each of them waits
// for.
//
// mutexinoutset: a task that waits for nothing else takes the mutexes of its addresses, in the order of their places in
// memory (so that no circle of waiters can form), before it is ready; one that is held puts the task into a queue, and
// whoever releases it hands it to the next in the queue, which goes on with the rest. Thus a task never occupies a
// member while it waits, and exclusive tasks run in the order in which they could have begun.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "faces/openmp/task.h"

namespace weft::openmp {

/// The task dependence types. `reads` and `sets` may run beside their like, `excludes` one after the other in any
/// order.
enum class Access : std::uint8_t { reads, writes, excludes, sets };

/// address nullptr: omp_all_memory.
struct Dependence {
  const void* address;
  Access access;
};

/// The depend clauses of a construct, however the compiler wrote them down.
struct DependenceList {
  const void* source;
  std::size_t count;
  Dependence (*get)(const void* source, std::size_t index);
};

namespace ompt {
struct Record;
}

struct Edge {
  Task* successor;
  Edge* next;
};

/// Exclusion between the tasks of one address.
struct TaskMutex;

/// A task in a generation: belongs to the task's Dependences, behind which it lies.
struct Link {
  Dependences* task;
  Link* next;
};

struct Dependences {
  /// What keeps the task from running: predecessors that are not complete, 1 while registering, mutexes_to_take while
  /// it has some to take. The latter is a number that nothing else adds up to, so that whoever removes what is before
  /// it knows it by the count alone: a task that has none may be gone after the removal.
  static constexpr std::uint32_t mutexes_to_take = 1U << 30U;
  TaskCounter unresolved{1 + mutexes_to_take};
  std::atomic<Edge*> successors{nullptr};
  std::atomic<std::uint32_t> users{1};  // the task, and its links that are in the table
  Task* task = nullptr;
  Task* next_in_queue = nullptr;  // of a mutex
  TaskMutex** mutexes = nullptr;  // in order
  unsigned mutex_count = 0;
  unsigned mutexes_held = 0;
  bool deferred = true;
  ompt::Record* record = nullptr;  // for a tool, which may be told of the task after its end
  unsigned link_count = 0;
  Link* new_link() { return reinterpret_cast<Link*>(this + 1) + link_count++; }
};

/// Registers `task`. True: it may run at once; else it is enqueued, if it is `deferred`, when nothing keeps it any
/// more, or the wait on `unresolved` ends.
bool register_dependences(Member& creator, Task& task, const DependenceList& list, bool deferred);

/// `task` is complete: makes the successors that waited only for it ready. `member` is nullptr if who found out is no
/// member of the team. Returns whether there were any.
bool release_successors(Team& team, Member* member, Task& task);

void free_table(Task& parent);

}  // namespace weft::openmp
