// Dependences between sibling tasks (OpenMP 5.2, 15.9.5).
//
// The creator of the siblings is one thread, so the table of addresses needs no lock. What races is
// the creator, adding an edge from a task that is about to complete, with that task's completion: the
// list of successors is a stack that completion closes by one exchange, and to which nothing can be
// added once it is closed.
#pragma once

#include <atomic>
#include <cstdint>

#include "faces/openmp/task.h"

namespace weft::openmp {

struct Edge {
  Task* successor;
  Edge* next;
};

struct Dependences {
  TaskCounter unresolved{1};  // predecessors that are not complete; plus 1 while registering
  std::atomic<Edge*> successors{nullptr};
  std::atomic<std::uint32_t> users{1};  // the task, and the table's entries
  Task* task = nullptr;
  bool deferred = true;
};

/// Registers `task` under the addresses in `depend` (GCC's encoding). True: it may run at once; else
/// its last predecessor enqueues it if it is `deferred`, or ends the wait on `unresolved`.
bool register_dependences(Member& creator, Task& task, void** depend, bool deferred);

/// `task` is complete: makes the successors that waited only for it ready.
void release_successors(Member& member, Task& task);

void free_table(Task& parent);

}  // namespace weft::openmp
