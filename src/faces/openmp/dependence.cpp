#include "faces/openmp/dependence.h"

#include <cstdlib>
#include <new>

#include "base/hash.h"
#include "base/panic.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

namespace {

struct Reader {
  Dependences* task;
  Reader* next;
};

struct Entry {
  const void* address;
  Dependences* last_writer = nullptr;
  Reader* readers = nullptr;  // since the last writer
  Entry* next = nullptr;
};

template <class T, class... Arguments>
T* make(Arguments... arguments) {
  void* memory = std::malloc(sizeof(T));
  if (memory == nullptr) base::panic("no memory for task dependences");
  return new (memory) T{arguments...};
}

Edge* closed() { return reinterpret_cast<Edge*>(std::uintptr_t{1}); }

Dependences* retain(Dependences* object) {
  object->users.fetch_add(1, std::memory_order_relaxed);
  return object;
}

void let_go(Dependences* object) {
  if (object->users.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(object);
}

// GCC's encoding. depend[0] != 0: total, writers, then the addresses, writers first. depend[0] == 0:
// total, writers, mutexinoutset, readers, then the addresses in that order, then depobjs (pairs of
// address and kind). mutexinoutset is taken for inout, which orders more than it must.
enum class Access { read, write };

template <class Visit>
void for_each_dependence(void** depend, Visit visit) {
  const auto number = [depend](unsigned index) { return reinterpret_cast<std::uintptr_t>(depend[index]); };
  if (number(0) != 0) {
    for (std::uintptr_t index = 0; index < number(0); ++index)
      visit(depend[2 + index], index < number(1) ? Access::write : Access::read);
    return;
  }
  const std::uintptr_t total = number(1), writers = number(2) + number(3), plain = writers + number(4);
  for (std::uintptr_t index = 0; index < total; ++index) {
    if (index < plain) {
      visit(depend[5 + index], index < writers ? Access::write : Access::read);
      continue;
    }
    constexpr std::uintptr_t kind_in = 1;
    auto object = static_cast<void**>(depend[5 + index]);
    visit(object[0], reinterpret_cast<std::uintptr_t>(object[1]) == kind_in ? Access::read : Access::write);
  }
}

void add_edge(Dependences& before, Task& after) {
  if (before.task == &after) return;
  Edge* head = before.successors.load(std::memory_order_acquire);
  if (head == closed()) return;
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

}  // namespace

struct DependenceTable {
  static constexpr unsigned bits = 6;
  Entry* bucket[1U << bits] = {};

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

void forget_readers(Entry& entry) {
  while (Reader* reader = entry.readers) {
    entry.readers = reader->next;
    let_go(reader->task);
    std::free(reader);
  }
}

void depend_on(Entry& entry, Task& task, Access access) {
  if (access == Access::read || entry.readers == nullptr) {
    if (entry.last_writer != nullptr) add_edge(*entry.last_writer, task);
  }
  if (access == Access::read) {
    entry.readers = make<Reader>(retain(task.dependences), entry.readers);
    return;
  }
  for (Reader* reader = entry.readers; reader != nullptr; reader = reader->next) add_edge(*reader->task, task);
  forget_readers(entry);
  if (entry.last_writer != nullptr) let_go(entry.last_writer);
  entry.last_writer = retain(task.dependences);
}

}  // namespace

bool register_dependences(Member& creator, Task& task, void** depend, bool deferred) {
  Task& parent = *task.parent;
  if (parent.children_table == nullptr) parent.children_table = make<DependenceTable>();
  void* memory = std::malloc(sizeof(Dependences));
  if (memory == nullptr) base::panic("no memory for task dependences");
  task.dependences = new (memory) Dependences;
  task.dependences->task = &task;
  task.dependences->deferred = deferred;
  for_each_dependence(
      depend, [&](void* address, Access access) { depend_on(parent.children_table->entry(address), task, access); });
  return task.dependences->unresolved.drop(creator.team->tasks, 0) == 0;
}

void release_successors(Member& member, Task& task) {
  TaskPool& pool = member.team->tasks;
  Edge* edge = task.dependences->successors.exchange(closed(), std::memory_order_acq_rel);
  while (edge != nullptr) {
    Edge* next = edge->next;
    Task& successor = *edge->successor;
    // Read first: the one that takes an undeferred task's count to 0 lets its creator go on with it.
    const bool deferred = successor.dependences->deferred;
    if (successor.dependences->unresolved.drop(pool, 0) == 0 && deferred) enqueue(member, successor);
    std::free(edge);
    edge = next;
  }
  let_go(task.dependences);
}

void free_table(Task& parent) {
  for (Entry* entry : parent.children_table->bucket) {
    while (entry != nullptr) {
      Entry* next = entry->next;
      forget_readers(*entry);
      if (entry->last_writer != nullptr) let_go(entry->last_writer);
      std::free(entry);
      entry = next;
    }
  }
  std::free(parent.children_table);
  parent.children_table = nullptr;
}

}  // namespace weft::openmp
