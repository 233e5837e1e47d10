#include "os/code_not_to_leave.h"

#include <cstddef>
#include <cstring>
#include <link.h>
#include <pthread.h>

#include "os/code_table.h"
#include "os/cut_calls.h"
#include "os/exported_function.h"
#include "os/futex.h"
#include "os/libraries.h"
#include "os/linker_lock.h"
#include "os/signal_mask.h"
#include "os/weft_note.h"

namespace weft::os {
namespace {

CodeTable code_not_to_leave;
// Who finds out what belongs there, all signals blocked. Its own lock, and so not held by what was interrupted.
pthread_mutex_t refreshing = PTHREAD_MUTEX_INITIALIZER;
unsigned long long changes_seen = 0;  // of the list of objects, when the table was made; 0: it was not yet

// Of libc's, looked up while the library is loaded. One whose size is not known (none of that name, or an
// implementation that the linker chose) is none in which a program waits: it is left as little as the rest of libc.
ExportedFunction yield_function;
ExportedFunction sleep_function;
ExportedFunction spin_function;
ExportedFunction clock_function;
ExportedFunction objects_function;
ExportedFunction allocator;     // libc's, or another library's in its place
CodeRange code_of_allocator;    // that library's; empty where it is libc's or the program's own
CodeRange code_with_allocator;  // the program's, if the allocator is a part of it

template <class Take>
void for_each_code(const dl_phdr_info* object, Take take) {
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const auto& segment = object->dlpi_phdr[index];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t low = object->dlpi_addr + segment.p_vaddr;
    take(low, low + segment.p_memsz);
  }
}

// The program itself has no name.
bool is_library(const char* name) { return name[0] != '\0'; }

int note_code_of_allocator(dl_phdr_info* object, std::size_t, void*) {
  if (!holds(*object, allocator.begin)) return 0;
  if (holds(*object, yield_function.begin)) return 1;
  CodeRange& code = is_library(object->dlpi_name) ? code_of_allocator : code_with_allocator;
  for_each_code(object, [&code](std::uintptr_t low, std::uintptr_t high) { code = {low, high, false}; });
  return 1;
}

// What glibc tells of an object by _dl_find_object(), from 2.35 on; it may have more to tell later.
struct ObjectOfCode {
  unsigned long long flags;
  void* begin;
  void* end;
  const link_map* object;
  void* others[16];
};
using FindObject = int(void*, ObjectOfCode*);
FindObject* find_object = nullptr;

// Early: its handler for forks is called before that of the core (core/fork.cpp). And not when the runtime starts: that
// may wait for who loads a library, whose constructor may wait for that.
[[gnu::constructor(1000)]] void look_up_functions() {
  yield_function = find_exported("sched_yield");
  sleep_function = find_exported("clock_nanosleep");
  spin_function = find_exported("pthread_spin_lock");
  clock_function = find_exported("clock_gettime");
  objects_function = find_exported("dl_iterate_phdr");
  allocator = find_exported("malloc");
  find_object = reinterpret_cast<FindObject*>(find_exported("_dl_find_object").begin);
  for_each_object(note_code_of_allocator, nullptr);
  find_linker_lock();
  look_up_calls_that_are_cut(yield_function);
  // The table itself is whole at any time.
  pthread_atfork(nullptr, nullptr, [] { refreshing = PTHREAD_MUTEX_INITIALIZER; });
}

// weft reads the clock where it is in the midst of something; what reads it cannot be told from there. Where it lies
// is not known: anywhere in libc.
bool is_in_clock(std::uintptr_t instruction) { return clock_function.size == 0 || clock_function.holds(instruction); }

bool begins_with(const char* text, const char* beginning) { return strncmp(text, beginning, strlen(beginning)) == 0; }

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool is_of_runtime(const char* path) {
  const char* file = file_name(path);
  for (const char* name :
       {"libc.so", "libc-", "ld-linux", "ld-musl", "libpthread", "libdl", "libgcc_s", "libstdc++", "libc++"})
    if (begins_with(file, name)) return true;
  return false;
}

// Code that is not in the table may lie in a library that was loaded since. dl_iterate_phdr() takes a lock; but this
// can be asked from a handler: it takes none, and does not stop even where a thread is in the midst of dlopen(), be it
// the interrupted one. Nor can the library go, for the interrupted code is in it. Code that lies in no object at all
// (what a program has compiled for itself, as Julia, Java and Numba do) is left.
//
// Where there is no such function, a new library is taken for one of the program's until the watchdog's next look,
// which makes the table anew. To have all code that is not known run on until then would be no better: what lies in no
// object is never known, and would run on for ever.
bool is_in_new_runtime(std::uintptr_t instruction) {
  ObjectOfCode found;
  if (find_object == nullptr || find_object(reinterpret_cast<void*>(instruction), &found) != 0) return false;
  const link_map& object = *found.object;
  return is_of_runtime(object.l_name) || (is_library(object.l_name) && has_weft_note(found.begin, object.l_addr));
}

bool lies_in(const CodeRange& code, std::uintptr_t instruction) {
  return instruction >= code.low && instruction < code.high;
}

}  // namespace

CodePlace place_of_code(std::uintptr_t instruction) {
  const CodeTable::Found found = code_not_to_leave.find(instruction);
  CodePlace place{.in_weft = found == CodeTable::Found::not_known,
                  .in_runtime = found == CodeTable::Found::not_known,
                  .beside_allocator = lies_in(code_with_allocator, instruction)};
  if (found == CodeTable::Found::not_known || is_in_waiting_call(instruction)) return place;
  if (found == CodeTable::Found::nothing && !is_in_new_runtime(instruction)) return place;
  place.in_runtime = true;
  place.in_weft = found == CodeTable::Found::weft || is_in_clock(instruction);
  return place;
}

bool is_in_walk_of_objects(std::uintptr_t instruction) { return objects_function.holds(instruction); }

bool is_in_waiting_call(std::uintptr_t instruction) {
  return yield_function.holds(instruction) || sleep_function.holds(instruction) || spin_function.holds(instruction);
}

void libc_sched_yield() {
  using Function = int (*)();
  if (yield_function.begin != 0)
    reinterpret_cast<Function>(yield_function.begin)();
  else
    give_up_cpu();
}

bool is_in_replaced_allocator(std::uintptr_t instruction) { return lies_in(code_of_allocator, instruction); }

bool allocator_lies_in_program() { return code_with_allocator.high != 0; }

namespace {

struct Collected {
  bool unchanged = false;          // since the last time
  unsigned long long changes = 0;  // 0: cannot be told
  unsigned count = 0;
  CodeRange ranges[CodeTable::most_ranges];
};

unsigned long long count_changes(const dl_phdr_info& object, std::size_t size) {
  constexpr std::size_t needed = offsetof(dl_phdr_info, dlpi_subs) + sizeof object.dlpi_subs;
  return size >= needed ? object.dlpi_adds + object.dlpi_subs : 0;
}

int collect(dl_phdr_info* object, std::size_t size, void* argument) {
  auto& collected = *static_cast<Collected*>(argument);
  collected.changes = count_changes(*object, size);
  collected.unchanged = collected.changes != 0 && collected.changes == changes_seen;
  if (collected.unchanged) return 1;
  const bool of_weft = holds(*object, reinterpret_cast<std::uintptr_t>(&collect)) ||
                       begins_with(file_name(object->dlpi_name), "linux-vdso");  // the clock, see above
  const bool of_other_runtime =
      is_library(object->dlpi_name) &&
      (holds(*object, allocator.begin) || has_weft_note(object->dlpi_phdr, object->dlpi_phnum, object->dlpi_addr));
  const bool wanted = of_weft || of_other_runtime || is_of_runtime(object->dlpi_name);
  if (!wanted) return 0;
  for_each_code(object, [&collected, of_weft](std::uintptr_t low, std::uintptr_t high) {
    if (collected.count < CodeTable::most_ranges) collected.ranges[collected.count++] = {low, high, of_weft};
  });
  return 0;
}

}  // namespace

// Not, while the linker is locked, where there is a table: it will be asked for again. (Bug: the watchdog waited for
// the lock, and nobody had a KLT stand in for those of the workers that slept: whoever had the lock waited for one.)
void refresh_code_not_to_leave() {
  const SignalMask before = block_all_signals();
  pthread_mutex_lock(&refreshing);
  Collected collected;
  if (changes_seen != 0 && linker_lock() == Held::yes)
    collected.unchanged = true;
  else
    for_each_object(collect, &collected);
  if (!collected.unchanged) {
    code_not_to_leave.replace(collected.ranges, collected.count);
    changes_seen = collected.changes;
  }
  pthread_mutex_unlock(&refreshing);
  set_signals(before);
}

}  // namespace weft::os
