#include "faces/openmp/dependence.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>

#include "base/hash.h"
#include "base/panic.h"
#include "core/spinlock.h"
#include "faces/openmp/blocks.h"
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
  std::uint32_t count = 0;     // of links in `current`
  std::uint32_t prune_at = 0;  // when there are so many, see which of them can go
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

// The last one that refers to it needs no locked instruction to find that out.
void let_go(Dependences* object) {
  if (object->users.load(std::memory_order_acquire) != 1 && object->users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (object->mutexes != nullptr) std::free(object->mutexes);
  if (object->record != nullptr) ompt::release(*object->record);
  give_block(object, Dependences::size_for(object->room));
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

// While the task is registered nobody else knows of its links.
void put_into(Link*& list, Dependences& task) {
  task.users.store(task.users.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  list = new (task.links() + task.link_count++) Link{&task, list};
}

bool is_complete(const Dependences& task) { return task.successors.load(std::memory_order_acquire) == closed(); }

void forget(Entry& entry) {
  forget(entry.before);
  forget(entry.current);
  if (entry.mutex != nullptr) let_go(entry.mutex);
}

void free_entry(Entry& entry) {
  forget(entry);
  give_block(&entry, sizeof(Entry));
}

// Links of tasks that are complete need not be kept: nobody will wait for them.
void forget_complete(Link*& list, std::uint32_t& count) {
  Link** link = &list;
  while (Link* each = *link) {
    if (!is_complete(*each->task)) {
      link = &each->next;
      continue;
    }
    *link = each->next;
    --count;
    let_go(each->task);
  }
}

bool all_complete(const Link* list) {
  while (list != nullptr && is_complete(*list->task)) list = list->next;
  return list == nullptr;
}

bool is_own(Dependences& task, const Edge* edge) { return edge >= task.edges() && edge < task.edges() + task.room; }

void free_edge(Edge* edge) {
  if (!is_own(*edge->successor, edge)) [[unlikely]]
    give_block(edge, sizeof(Edge));
}

void add_edge(Dependences& before, Task& after) {
  if (before.task == &after) return;
  Edge* head = before.successors.load(std::memory_order_acquire);
  Dependences& own = *after.dependences;
  // A task that waits for another because of several addresses does so once: its edge is the last that was added.
  if (head == closed() || is_own(own, head)) return;
  if (before.record != nullptr) ompt::task_comes_before(before.record, own.record);
  void* memory = own.edge_count < own.room ? own.edges() + own.edge_count : take_block(sizeof(Edge));
  Edge* edge = new (memory) Edge{&own, nullptr};
  while (head != closed()) {
    edge->next = head;
    if (before.successors.compare_exchange_weak(head, edge, std::memory_order_acq_rel, std::memory_order_acquire)) {
      ++own.edge_count;
      return;
    }
  }
  free_edge(edge);  // completed meanwhile
}

inline void depend_on_all(const Link* list, Task& task) {
  for (; list != nullptr; list = list->next) add_edge(*list->task, task);
}

}  // namespace

struct DependenceTable {
  static constexpr unsigned first_bits = 4;
  Entry* first_buckets[1U << first_bits] = {};
  Entry** buckets = first_buckets;
  unsigned bits = first_bits;
  std::uint32_t count = 0;     // of entries
  Link* all_memory = nullptr;  // the last task that depends on all memory: comes before what is registered later

  Entry& entry(const void* address) {
    Entry*& head = buckets[base::place_of_address(address, bits)];
    for (Entry* entry = head; entry != nullptr; entry = entry->next)
      if (entry->address == address) return *entry;
    return add(address);
  }

  template <class Visit>
  void take_each(Visit visit) {
    for (Entry*& head : std::span(buckets, std::size_t{1} << bits)) {
      while (Entry* entry = head) {
        head = entry->next;
        visit(*entry);
      }
    }
    count = 0;
  }

  void free_buckets() {
    if (buckets != first_buckets) std::free(buckets);
  }

 private:
  [[gnu::noinline]] Entry& add(const void* address) {
    if (count >> bits != 0) make_room();
    ++count;
    Entry*& head = buckets[base::place_of_address(address, bits)];
    return *(head = new (take_block(sizeof(Entry))) Entry{.address = address, .next = head});
  }

  // A program may go on for ever and never name an address again: entries whose tasks are all complete go first, and
  // the table grows if that was not worth the look at all of them.
  void make_room() {
    for (Entry*& head : std::span(buckets, std::size_t{1} << bits)) {
      Entry** link = &head;
      while (Entry* entry = *link) {
        if (!all_complete(entry->current) || !all_complete(entry->before)) {
          link = &entry->next;
          continue;
        }
        *link = entry->next;
        free_entry(*entry);
        --count;
      }
    }
    if (count >> (bits - 1) != 0) grow();
  }

  // Without memory for a larger one, the table stays as it is.
  void grow() {
    const unsigned more = bits + 2;
    auto larger = static_cast<Entry**>(std::calloc(std::size_t{1} << more, sizeof(Entry*)));
    if (larger == nullptr) return;
    const std::uint32_t entries = count;
    take_each([&](Entry& entry) {
      Entry*& head = larger[base::place_of_address(entry.address, more)];
      entry.next = head;
      head = &entry;
    });
    free_buckets();
    buckets = larger;
    bits = more;
    count = entries;
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
  constexpr std::uint32_t fewest_to_prune = 32;
  if (entry.access != access || access == Access::writes) {
    // The task may have named the address before: then it belongs to `current`, and what it waits for stays.
    forget(entry.before);
    entry.before = entry.current;
    entry.current = nullptr;
    entry.access = access;
    entry.count = 0;
    entry.prune_at = fewest_to_prune;
  } else if (entry.count >= entry.prune_at) {
    forget_complete(entry.current, entry.count);
    entry.prune_at = entry.count < fewest_to_prune / 2 ? fewest_to_prune : 2 * entry.count;
  }
  depend_on_all(entry.before, task);
  put_into(entry.current, *task.dependences);
  ++entry.count;
  if (access == Access::excludes) want_mutex(*task.dependences, entry);
}

void depend_on_everything(DependenceTable& table, Task& task) {
  table.take_each([&task](Entry& entry) {
    depend_on_all(entry.before, task);
    depend_on_all(entry.current, task);
    free_entry(entry);
  });
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
  const auto room = static_cast<std::uint32_t>(list.count);
  Dependences& own = *(task.dependences = new (take_block(Dependences::size_for(room))) Dependences{.room = room});
  own.task = &task;
  own.deferred = deferred;
  if (ompt::watched) [[unlikely]]
    own.record = ompt::hold(task);
  if (table.all_memory != nullptr) [[unlikely]]
    depend_on_all(table.all_memory, task);
  bool everything = false;
  for (std::size_t index = 0; index < list.count; ++index) {
    const Dependence dependence = list.get(list.source, index);
    if (dependence.of_all_memory())
      everything = true;
    else
      depend_on(table.entry(dependence.address), task, dependence.access);
  }
  if (everything) depend_on_everything(table, task);
  const std::uint32_t rest = Dependences::registering - own.edge_count;
  if (own.mutex_count != 0) return resolve(creator.team->tasks, task, rest);
  return own.edge_count == 0 || resolve(creator.team->tasks, task, rest + Dependences::mutexes_to_take);
}

bool release_successors(Team& team, Member* member, Task& task) {
  TaskPool& pool = team.tasks;
  Edge* edge = task.dependences->successors.exchange(closed(), std::memory_order_acq_rel);
  bool any = edge != nullptr;
  while (edge != nullptr) {
    Edge* next = edge->next;
    Task& successor = *edge->successor->task;
    // Read first: the one that takes an undeferred task's count to 0 lets its creator go on with it.
    const bool deferred = successor.dependences->deferred;
    free_edge(edge);
    if (resolve(pool, successor, 1) && deferred) offer(team, member, successor);
    edge = next;
  }
  if (task.dependences->mutex_count != 0 && release_mutexes(team, member, *task.dependences)) any = true;
  let_go(task.dependences);
  return any;
}

const Edge* successors_of(const Task& task) {
  static_assert(offsetof(Dependences, successors) == 0 && offsetof(Edge, successor) == 0);
  if (task.dependences == nullptr) return nullptr;
  const Edge* edge = task.dependences->successors.load(std::memory_order_acquire);
  return edge != closed() ? edge : nullptr;
}

void free_table(Task& parent) {
  DependenceTable& table = *parent.children_table;
  table.take_each(free_entry);
  forget(table.all_memory);
  table.free_buckets();
  std::free(&table);
  parent.children_table = nullptr;
}

}  // namespace weft::openmp
