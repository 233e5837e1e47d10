// Dependences between sibling tasks (OpenMP 5.2, 15.9.5).
//
// The creator of the siblings is one thread, so the table of addresses needs no lock. What races is
// the creator, adding an edge from a task that is about to complete, with that task's completion: the
// list of successors is a stack that completion closes by one exchange, and to which nothing can be
// added once it is closed.
//
// What belongs to a task, it brings along in one block: its links, and edges for as many predecessors as it names
// addresses, which is mostly all. An edge lies with the successor, which cannot be complete before the edge has been
// followed; it is read before the successor's count is lowered. While a task is registered, its count stays above all
// that predecessors may take away, and edges and links are counted by plain numbers; one step takes back the rest. A
// task without edges has been shown to nobody, and needs no such step.
//
// The table grows with the addresses of tasks that are not complete, so that each costs the same; and of tasks that
// only read, or may run beside each other for another reason, those that are complete are sorted out whenever their
// number has doubled. So what a program costs that goes on for ever does not grow with the tasks it has had, nor with
// the addresses.
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

struct Dependence {
  const void* address;
  Access access;
  /// omp_all_memory. (Bug: what was only read through a null pointer was taken for that.)
  bool of_all_memory() const { return address == nullptr && access == Access::writes; }
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

/// From a task to one that waits for it. What LLVM's runtime has for it begins alike, which programs look at:
/// kmp_depnode_list, and kmp_base_depnode for Dependences.
struct Edge {
  Dependences* successor;
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
  /// What keeps the task from running: predecessors that are not complete, `registering` meanwhile, and mutexes_to_take
  /// while it has some to take. The latter is a number that nothing else adds up to, so that whoever removes what is
  /// before it knows it by the count alone: a task that has none may be gone after the removal.
  static constexpr std::uint32_t mutexes_to_take = 1U << 30U;
  static constexpr std::uint32_t registering = 1U << 29U;  // more than there can be predecessors
  std::atomic<Edge*> successors{nullptr};                  // first
  TaskCounter unresolved{registering + mutexes_to_take};
  std::atomic<std::uint32_t> users{1};  // the task, and its links that are in the table
  bool deferred = true;
  Task* task = nullptr;
  Task* next_in_queue = nullptr;  // of a mutex
  TaskMutex** mutexes = nullptr;  // in order
  unsigned mutex_count = 0;
  unsigned mutexes_held = 0;
  ompt::Record* record = nullptr;  // for a tool, which may be told of the task after its end
  std::uint32_t edge_count = 0;    // predecessors that were not complete
  std::uint32_t link_count = 0;
  const std::uint32_t room = 0;  // for so many links, and as many edges, behind this
  Link* links() { return reinterpret_cast<Link*>(this + 1); }
  Edge* edges() { return reinterpret_cast<Edge*>(links() + room); }
  static std::size_t size_for(std::size_t room) { return sizeof(Dependences) + room * (sizeof(Link) + sizeof(Edge)); }
};

/// Registers `task`. True: it may run at once; else it is enqueued, if it is `deferred`, when nothing keeps it any
/// more, or the wait on `unresolved` ends.
bool register_dependences(Member& creator, Task& task, const DependenceList& list, bool deferred);

/// `task` is complete: makes the successors that waited only for it ready. `member` is nullptr if who found out is no
/// member of the team. Returns whether there were any.
bool release_successors(Team& team, Member* member, Task& task);

/// Those that wait for the task so far; nullptr if there are none, or it is complete. Changes when a sibling is created
/// or the task ends.
const Edge* successors_of(const Task& task);

void free_table(Task& parent);

}  // namespace weft::openmp
