#include "faces/openmp/dependence.h"

#include <cstdlib>
#include <new>

#include "base/hash.h"
#include "base/panic.h"
#include "core/spinlock.h"
#include "faces/openmp/ompt/tasks.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

struct TaskMutex {
  core::Spinlock lock;
  bool held = false;
  std::atomic<std::uint32_t> users{1};  // the table's entry, and tasks
  Task* first = nullptr;                // the queue
  Task* last = nullptr;
};

namespace {

struct Entry {
  const void* address;
  Link* before = nullptr;   // the generation that those of the last one wait for
  Link* current = nullptr;  // the last one
  Access access = Access::writes;
  TaskMutex* mutex = nullptr;
  Entry* next = nullptr;
};

template <class T, class... Arguments>
T* make(Arguments... arguments) {
  void* memory = std::malloc(sizeof(T));
  if (memory == nullptr) base::panic("no memory for task dependences");
  return new (memory) T{arguments...};
}

Edge* closed() { return reinterpret_cast<Edge*>(std::uintptr_t{1}); }

void let_go(Dependences* object) {
  if (object->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (object->mutexes != nullptr) std::free(object->mutexes);
  if (object->record != nullptr) ompt::release(*object->record);
  std::free(object);
}

void let_go(TaskMutex* mutex) {
  if (mutex->users.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(mutex);
}

inline void forget(Link*& list) {
  while (Link* link = list) {
    list = link->next;
    let_go(link->task);
  }
}

// One of the links that there is room for.
void put_into(Link*& list, Dependences& task) {
  task.users.fetch_add(1, std::memory_order_relaxed);
  list = new (task.new_link()) Link{&task, list};
}

void forget(Entry& entry) {
  forget(entry.before);
  forget(entry.current);
  if (entry.mutex != nullptr) let_go(entry.mutex);
}

void add_edge(Dependences& before, Task& after) {
  if (before.task == &after) return;
  Edge* head = before.successors.load(std::memory_order_acquire);
  if (head == closed()) return;
  if (before.record != nullptr) ompt::task_comes_before(before.record, after.dependences->record);
  Edge* edge = make<Edge>(&after, nullptr);
  after.dependences->unresolved.add();
  while (head != closed()) {
    edge->next = head;
    if (before.successors.compare_exchange_weak(head, edge, std::memory_order_acq_rel, std::memory_order_acquire))
      return;
  }
  // Completed meanwhile. The creator's own 1 is still in the count, so this does not end it.
  after.dependences->unresolved.take_back();
  std::free(edge);
}

inline void depend_on_all(const Link* list, Task& task) {
  for (; list != nullptr; list = list->next) add_edge(*list->task, task);
}

}  // namespace

struct DependenceTable {
  static constexpr unsigned bits = 6;
  Entry* bucket[1U << bits] = {};
  Link* all_memory = nullptr;  // the last task that depends on all memory: comes before what is registered later

  Entry& entry(const void* address) {
    Entry*& head = bucket[base::place_of_address(address, bits)];
    for (Entry* entry = head; entry != nullptr; entry = entry->next)
      if (entry->address == address) return *entry;
    Entry* fresh = make<Entry>(address);
    fresh->next = head;
    return *(head = fresh);
  }
};

namespace {

void want_mutex(Dependences& task, Entry& entry) {
  if (entry.mutex == nullptr) entry.mutex = make<TaskMutex>();
  unsigned place = 0;
  while (place < task.mutex_count && task.mutexes[place] < entry.mutex) ++place;
  if (place < task.mutex_count && task.mutexes[place] == entry.mutex) return;  // named twice
  auto grown = static_cast<TaskMutex**>(std::realloc(task.mutexes, (task.mutex_count + 1) * sizeof(TaskMutex*)));
  if (grown == nullptr) base::panic("no memory for task dependences");
  for (unsigned at = task.mutex_count; at > place; --at) grown[at] = grown[at - 1];
  grown[place] = entry.mutex;
  task.mutexes = grown;
  ++task.mutex_count;
  entry.mutex->users.fetch_add(1, std::memory_order_relaxed);
}

void depend_on(Entry& entry, Task& task, Access access) {
  if (entry.access != access || access == Access::writes) {
    // The task may have named the address before: then it belongs to `current`, and what it waits for stays.
    forget(entry.before);
    entry.before = entry.current;
    entry.current = nullptr;
    entry.access = access;
  }
  depend_on_all(entry.before, task);
  put_into(entry.current, *task.dependences);
  if (access == Access::excludes) want_mutex(*task.dependences, entry);
}

void depend_on_everything(DependenceTable& table, Task& task) {
  for (Entry*& head : table.bucket) {
    while (Entry* entry = head) {
      depend_on_all(entry->before, task);
      depend_on_all(entry->current, task);
      head = entry->next;
      forget(*entry);
      std::free(entry);
    }
  }
  forget(table.all_memory);
  put_into(table.all_memory, *task.dependences);
}

// Takes the mutexes that the task does not hold yet. False: it stands in the queue of one.
bool take_mutexes(Task& task) {
  Dependences& own = *task.dependences;
  while (own.mutexes_held < own.mutex_count) {
    TaskMutex& mutex = *own.mutexes[own.mutexes_held];
    core::SpinGuard guard(mutex.lock);
    if (mutex.held) {
      own.next_in_queue = nullptr;
      (mutex.last != nullptr ? mutex.last->dependences->next_in_queue : mutex.first) = &task;
      mutex.last = &task;
      return false;
    }
    mutex.held = true;
    ++own.mutexes_held;
  }
  return true;
}

// It holds them all.
bool end_of_mutexes(TaskPool& pool, Task& task) {
  return task.dependences->unresolved.drop(pool, 0, Dependences::mutexes_to_take) == 0;
}

// `count` of the things that keep the task from running are gone. Returns whether it may run; one that is deferred not
// only may: it is for the caller to enqueue.
bool resolve(TaskPool& pool, Task& task, std::uint32_t count) {
  const std::uint32_t left = task.dependences->unresolved.drop(pool, 0, count);
  if (left != Dependences::mutexes_to_take) return left == 0;
  return take_mutexes(task) && end_of_mutexes(pool, task);
}

void offer(Team& team, Member* member, Task& task) {
  if (member != nullptr)
    enqueue(*member, task);
  else
    enqueue_for_all(team, task);
}

bool release_mutexes(Team& team, Member* member, Dependences& own) {
  bool any = false;
  for (unsigned index = 0; index < own.mutex_count; ++index) {
    TaskMutex& mutex = *own.mutexes[index];
    Task* next;
    {
      core::SpinGuard guard(mutex.lock);
      next = mutex.first;
      if (next == nullptr) {
        mutex.held = false;
      } else {
        mutex.first = next->dependences->next_in_queue;
        if (mutex.first == nullptr) mutex.last = nullptr;
      }
    }
    let_go(&mutex);
    if (next == nullptr) continue;
    any = true;
    ++next->dependences->mutexes_held;
    const bool deferred = next->dependences->deferred;
    if (take_mutexes(*next) && end_of_mutexes(team.tasks, *next) && deferred) offer(team, member, *next);
  }
  return any;
}

}  // namespace

bool register_dependences(Member& creator, Task& task, const DependenceList& list, bool deferred) {
  Task& parent = *task.parent;
  if (parent.children_table == nullptr) parent.children_table = make<DependenceTable>();
  DependenceTable& table = *parent.children_table;
  void* memory = std::malloc(sizeof(Dependences) + list.count * sizeof(Link));
  if (memory == nullptr) base::panic("no memory for task dependences");
  Dependences& own = *(task.dependences = new (memory) Dependences);
  own.task = &task;
  own.deferred = deferred;
  if (ompt::watched) [[unlikely]]
    own.record = ompt::hold(task);
  if (table.all_memory != nullptr) [[unlikely]]
    depend_on_all(table.all_memory, task);
  bool everything = false;
  for (std::size_t index = 0; index < list.count; ++index) {
    const Dependence dependence = list.get(list.source, index);
    if (dependence.address == nullptr)
      everything = true;
    else
      depend_on(table.entry(dependence.address), task, dependence.access);
  }
  if (everything) depend_on_everything(table, task);
  return resolve(creator.team->tasks, task, own.mutex_count == 0 ? 1 + Dependences::mutexes_to_take : 1);
}

bool release_successors(Team& team, Member* member, Task& task) {
  TaskPool& pool = team.tasks;
  Edge* edge = task.dependences->successors.exchange(closed(), std::memory_order_acq_rel);
  bool any = edge != nullptr;
  while (edge != nullptr) {
    Edge* next = edge->next;
    Task& successor = *edge->successor;
    // Read first: the one that takes an undeferred task's count to 0 lets its creator go on with it.
    const bool deferred = successor.dependences->deferred;
    if (resolve(pool, successor, 1) && deferred) offer(team, member, successor);
    std::free(edge);
    edge = next;
  }
  if (task.dependences->mutex_count != 0 && release_mutexes(team, member, *task.dependences)) any = true;
  let_go(task.dependences);
  return any;
}

void free_table(Task& parent) {
  DependenceTable& table = *parent.children_table;
  for (Entry* entry : table.bucket) {
    while (entry != nullptr) {
      Entry* next = entry->next;
      forget(*entry);
      std::free(entry);
      entry = next;
    }
  }
  forget(table.all_memory);
  std::free(&table);
  parent.children_table = nullptr;
}

}  // namespace weft::openmp
