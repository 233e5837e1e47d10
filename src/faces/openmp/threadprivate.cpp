// Each thread has a table of its copies, by the variable's address, behind a key of libc: so it belongs to the
// thread's identity, as a thread-local variable does, and libc has it destroyed when the thread ends. What is common
// to all threads (how copies are made, and the bytes that the variable held when it was first asked for) stands in a
// list under a lock, which a thread takes once for each variable.
#include "faces/openmp/threadprivate.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/hash.h"
#include "base/layout.h"
#include "base/panic.h"
#include "core/sync/mutex.h"

namespace weft::openmp {
namespace {

struct Variable {
  void* address;
  ThreadprivateClass how = {};
  std::size_t size = 0;   // known with the first use
  void* image = nullptr;  // what copies begin with where nothing constructs them
  Variable* next = nullptr;
};

struct Copy {
  Variable* variable;
  void* data;
  Copy* next;
};

struct Table {
  static constexpr unsigned bits = 5;
  Copy* bucket[1U << bits] = {};
};

constinit core::Mutex variables_lock;
constinit Variable* variables = nullptr;
constinit pthread_key_t tables;
constinit std::atomic<bool> has_key{false};
constinit pthread_t initial_thread = 0;

template <class T, class... Arguments>
T* make(Arguments... arguments) {
  void* memory = std::malloc(sizeof(T));
  if (memory == nullptr) base::panic("no memory for threadprivate variables");
  return new (memory) T{arguments...};
}

void* allocate_bytes(std::size_t size) {
  void* memory = nullptr;
  if (posix_memalign(&memory, base::cache_line, size != 0 ? size : 1) != 0)
    base::panic("no memory for a threadprivate variable of %zu bytes", size);
  return memory;
}

// With the lock held.
Variable& variable_at(void* address) {
  for (Variable* variable = variables; variable != nullptr; variable = variable->next)
    if (variable->address == address) return *variable;
  auto variable = make<Variable>(address);
  variable->next = variables;
  return *(variables = variable);
}

void destroy(const Copy& copy) {
  const ThreadprivateClass& how = copy.variable->how;
  if (how.destroy == nullptr) return;
  if (how.elements != 0)
    reinterpret_cast<void (*)(void*, std::size_t)>(how.destroy)(copy.data, how.elements);
  else
    reinterpret_cast<void (*)(void*)>(how.destroy)(copy.data);
}

void destroy_table(void* argument) {
  auto table = static_cast<Table*>(argument);
  for (Copy* copy : table->bucket) {
    while (copy != nullptr) {
      Copy* next = copy->next;
      if (copy->data != copy->variable->address) {  // not the initial thread's
        destroy(*copy);
        std::free(copy->data);
      }
      std::free(copy);
      copy = next;
    }
  }
  std::free(table);
}

void fill(const Variable& variable, void* data) {
  const ThreadprivateClass& how = variable.how;
  if (how.construct != nullptr) {
    if (how.elements != 0)
      reinterpret_cast<void* (*)(void*, std::size_t)>(how.construct)(data, how.elements);
    else
      reinterpret_cast<void* (*)(void*)>(how.construct)(data);
  } else if (how.copy != nullptr) {
    if (how.elements != 0)
      reinterpret_cast<void* (*)(void*, void*, std::size_t)>(how.copy)(data, variable.image, how.elements);
    else
      reinterpret_cast<void* (*)(void*, void*)>(how.copy)(data, variable.image);
  } else {
    std::memcpy(data, variable.image, variable.size);
  }
}

Variable& used_variable(void* address, std::size_t size) {
  variables_lock.lock();
  Variable& variable = variable_at(address);
  if (variable.image == nullptr) {
    void* image = allocate_bytes(size);
    std::memcpy(image, address, size);
    variable.size = size;
    variable.image = image;  // last: a child forked meanwhile finds it complete, or not at all
  }
  if (!has_key.load(std::memory_order_relaxed)) {
    if (pthread_key_create(&tables, destroy_table) != 0) base::panic("no key for threadprivate variables");
    has_key.store(true, std::memory_order_release);
  }
  variables_lock.unlock();
  return variable;
}

}  // namespace

void register_threadprivate(void* variable, const ThreadprivateClass& how) {
  variables_lock.lock();
  variable_at(variable).how = how;
  variables_lock.unlock();
}

// The initial thread only sees to it that what the variable holds is noted before the program can change it.
void* threadprivate_copy(void* variable, std::size_t size) {
  if (has_key.load(std::memory_order_acquire)) {
    if (auto table = static_cast<Table*>(pthread_getspecific(tables)); table != nullptr) {
      Copy* copy = table->bucket[base::place_of_address(variable, Table::bits)];
      for (; copy != nullptr; copy = copy->next)
        if (copy->variable->address == variable) return copy->data;
    }
  }
  Variable& known = used_variable(variable, size);
  const bool is_original = pthread_equal(pthread_self(), initial_thread) != 0;
  auto table = static_cast<Table*>(pthread_getspecific(tables));
  if (table == nullptr) {
    table = make<Table>();
    // Bug: without memory for its place the thread had a new copy with each use.
    if (pthread_setspecific(tables, table) != 0) base::panic("no memory for threadprivate variables");
  }
  Copy*& bucket = table->bucket[base::place_of_address(variable, Table::bits)];
  void* data = variable;
  if (!is_original) {
    data = allocate_bytes(size);
    fill(known, data);
  }
  bucket = make<Copy>(&known, data, bucket);
  return data;
}

void reset_threadprivate() { new (&variables_lock) core::Mutex; }

void note_initial_thread() { initial_thread = pthread_self(); }

}  // namespace weft::openmp
