// Each unit that has set a value has a table of its own, grown to the highest key it has used. A value belongs to
// the generation of the key under which it was set, so that those of a deleted key are not seen under its successor.
//
// In a forked child the table of what forked is the new root's. In its place there is one that says so: a destructor
// that has forked comes upon it.
#include "core/extras.h"

#include <atomic>
#include <cstdlib>
#include <utility>

#include "arch/outermost.h"
#include "core/create.h"
#include "core/fork.h"
#include "core/scheduler.h"
#include "core/spinlock.h"

namespace weft::core {
namespace {

struct Registered {
  std::atomic<std::uint32_t> generation{0};  // odd: in use
  std::atomic<void (*)(void*)> destructor{nullptr};
};

struct Value {
  void* value;
  std::uint32_t generation;
};

struct Table {
  std::uint32_t count;
  std::uint32_t rounds;  // of destructors that have begun
  Value values[1];       // `count` of them
};

Spinlock registry_lock;
Registered keys[most_keys];

constexpr unsigned most_rounds = 4;  // of destructors
Table of_forked{0, most_rounds, {}};

bool exists(Key key) {
  return key.index < most_keys && key.generation % 2 == 1 &&
         keys[key.index].generation.load(std::memory_order_acquire) == key.generation;
}

// Where the unit, on its worker, keeps its table; nullptr: it is a face's own unit.
void** table_place(Worker& worker, Unit& unit) {
  if (is_root(unit)) return &worker.root.extras;
  return has_flag(unit, UnitFlag::free_standing) ? &details(unit).face : nullptr;
}

Table* grow(Table* table, std::uint32_t wanted) {
  const std::uint32_t before = table != nullptr ? table->count : 0;
  std::uint32_t count = before != 0 ? before : 4;
  while (count < wanted) count *= 2;
  auto grown = static_cast<Table*>(std::realloc(table, sizeof(Table) + (count - 1) * sizeof(Value)));
  if (grown == nullptr) return nullptr;
  if (table == nullptr) grown->rounds = 0;
  for (std::uint32_t index = before; index < count; ++index) grown->values[index] = Value{nullptr, 0};
  grown->count = count;
  return grown;
}

// Destructors may set values again, which may move the table; as often as pthread_key_create(3) is obliged to, not for
// ever. One may also exit its unit: then what is left of the rounds is done here, and nobody goes on with that one.
void end_table(void** place) {
  const auto table = [place] { return static_cast<Table*>(*place); };
  bool any = true;
  while (any && table()->rounds < most_rounds) {
    ++table()->rounds;
    any = false;
    for (std::uint32_t index = 0; index < table()->count; ++index) {
      Value& value = table()->values[index];
      const Key key{index, value.generation};
      // Before the look whether the key exists: that of a later one comes with its generation.
      void (*const destructor)(void*) = keys[index].destructor.load(std::memory_order_acquire);
      if (value.value == nullptr || !exists(key)) continue;
      void* ended = value.value;
      value.value = nullptr;
      any = true;
      if (destructor != nullptr) arch::call_as_outermost(destructor, ended);
    }
  }
  if (*place == &of_forked) end_forked();
  std::free(*place);
  *place = nullptr;
}

}  // namespace

bool create_key(void (*destructor)(void*), Key& key) {
  SpinGuard guard(registry_lock);
  for (std::uint32_t index = 0; index < most_keys; ++index) {
    const std::uint32_t generation = keys[index].generation.load(std::memory_order_relaxed);
    if (generation % 2 == 1) continue;
    keys[index].destructor.store(destructor, std::memory_order_release);
    keys[index].generation.store(generation + 1, std::memory_order_release);
    key = Key{index, generation + 1};
    return true;
  }
  return false;
}

void reset_keys() { registry_lock.unlock(); }

bool delete_key(Key key) {
  SpinGuard guard(registry_lock);
  if (!exists(key)) return false;
  keys[key.index].generation.store(key.generation + 1, std::memory_order_release);
  return true;
}

KeyAnswer set_value(Key key, void* value) {
  if (!exists(key)) return KeyAnswer::no_such_key;
  Worker& worker = worker_here();
  void** place = table_place(worker, *worker.current);
  if (place == nullptr) return KeyAnswer::not_for_this_unit;
  auto table = static_cast<Table*>(*place);
  if (table == nullptr || key.index >= table->count) {
    table = grow(table, key.index + 1);
    if (table == nullptr) return KeyAnswer::no_memory;
    *place = table;
    worker.current->flags.fetch_or(UnitFlag::detailed, std::memory_order_relaxed);
  }
  table->values[key.index] = Value{value, key.generation};
  return KeyAnswer::ok;
}

KeyAnswer get_value(Key key, void** value) {
  if (!exists(key)) return KeyAnswer::no_such_key;
  Worker& worker = worker_here();
  void** place = table_place(worker, *worker.current);
  if (place == nullptr) return KeyAnswer::not_for_this_unit;
  auto table = static_cast<Table*>(*place);
  const bool there =
      table != nullptr && key.index < table->count && table->values[key.index].generation == key.generation;
  *value = there ? table->values[key.index].value : nullptr;
  return KeyAnswer::ok;
}

void end_extras(Unit& unit) {
  if (is_root(*this_worker()->current)) end_forked();
  end_table(&details(unit).face);
}

bool ends_extras(const Unit& unit) {
  const auto table = static_cast<const Table*>(details(unit).face);
  return table != nullptr && table->rounds != 0;
}

void inherit_extras(Worker& worker, Worker& before, Unit& forked) {
  void** place = table_place(before, forked);
  if (place != nullptr) worker.root.extras = std::exchange(*place, &of_forked);
}

void inherit_extras(Worker& worker, Unit& forked) {
  worker.root.extras = std::exchange(details(forked).face, &of_forked);
}

void end_root_extras(Worker& worker) {
  if (worker.root.extras != nullptr) end_table(&worker.root.extras);
}

void forget_root_extras(Worker& worker) { std::free(std::exchange(worker.root.extras, nullptr)); }

}  // namespace weft::core
