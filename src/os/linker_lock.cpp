#include "os/linker_lock.h"

#include <cstddef>
#include <iterator>
#include <pthread.h>

#include "arch/thread_pointer.h"
#include "os/exported_function.h"
#include "os/klt.h"
#include "os/libraries.h"

namespace weft::os {
namespace {

const int* owner_of_lock = nullptr;

// Those of dlopen(), and of what threads are given by it (dl_load_lock, dl_load_tls_lock): or nullptr.
const int* owners_of_loading[2] = {};

// Which of the words at the thread pointer is the thread's number, by which libc knows the owners of locks; 0: unknown.
std::size_t word_of_number = 0;

// Of the dynamic linker's numbers those that are that of the calling thread while it is called back.
struct NumbersOfCaller {
  const int* numbers;
  std::size_t count;
  int caller;
  const int* found[8] = {};
  std::size_t found_count = 0;
};

int number_at(const int* place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

// Where a mutex that its owner may lock again has the owner: two numbers before its kind. (Bug: for process 1, as in a
// container, there are other numbers in the lock that are the caller's meanwhile: its owner was not known.)
bool may_be_owner(const int* place) { return number_at(place + 2) == PTHREAD_MUTEX_RECURSIVE; }

int note_numbers_of_caller(dl_phdr_info*, std::size_t, void* argument) {
  auto& of_caller = *static_cast<NumbersOfCaller*>(argument);
  for (std::size_t index = 0; index + 2 < of_caller.count; ++index) {
    const int* place = of_caller.numbers + index;
    if (number_at(place) != of_caller.caller || !may_be_owner(place)) continue;
    if (of_caller.found_count != std::size(of_caller.found)) of_caller.found[of_caller.found_count++] = place;
  }
  return 1;
}

// In glibc the three lie side by side, that of dl_iterate_phdr() in the middle. (There was no third before 2.34.)
void find_locks_of_loading(const ExportedFunction& data) {
  constexpr std::ptrdiff_t step = sizeof(pthread_mutex_t) / sizeof(int);
  const auto* low = reinterpret_cast<const int*>(data.begin);
  const auto* high = reinterpret_cast<const int*>(data.begin + data.size);
  const int* const candidates[] = {owner_of_lock - step, owner_of_lock + step};
  for (std::size_t index = 0; index < std::size(candidates); ++index) {
    const int* candidate = candidates[index];
    if (candidate >= low && candidate + 2 < high && may_be_owner(candidate)) owners_of_loading[index] = candidate;
  }
}

int word_of_thread(std::size_t word) { return number_at(static_cast<const int*>(arch::thread_pointer()) + word); }

void find_word_of_number() {
  constexpr std::size_t words = 1024 / sizeof(int);  // there are more
  const int number = this_klt();
  for (std::size_t word = 0; word_of_number == 0 && word < words; ++word)
    if (word_of_thread(word) == number) word_of_number = word;
}

}  // namespace

// The lock that dl_iterate_phdr() holds is in glibc a mutex that knows its owner, among the data that the dynamic
// linker shares with libc (_rtld_global). Where in there, nobody says: it is the one number that is this thread's while
// it is called back, and not afterwards. (The lock of dlopen(), which may be loading this library, it holds afterwards,
// too.) Where that is not so, the owner is not known.
void find_linker_lock() {
  const ExportedFunction data = find_exported("_rtld_global");
  NumbersOfCaller of_caller{reinterpret_cast<const int*>(data.begin), data.size / sizeof(int), this_klt()};
  for_each_object(note_numbers_of_caller, &of_caller);
  const int* owner = nullptr;
  for (std::size_t index = 0; index < of_caller.found_count; ++index) {
    if (number_at(of_caller.found[index]) == of_caller.caller || !may_be_owner(of_caller.found[index])) continue;
    if (owner != nullptr) return;
    owner = of_caller.found[index];
  }
  owner_of_lock = owner;
  if (owner == nullptr) return;
  find_word_of_number();
  if (word_of_number != 0) find_locks_of_loading(data);
}

bool loads_libraries() {
  for (const int* place : owners_of_loading) {
    const int owner = place != nullptr ? number_at(place) : 0;
    if (owner != 0 && owner == word_of_thread(word_of_number)) return true;
  }
  return false;
}

Held linker_lock() {
  if (owner_of_lock == nullptr) return Held::not_known;
  return number_at(owner_of_lock) != 0 ? Held::yes : Held::no;
}

}  // namespace weft::os
