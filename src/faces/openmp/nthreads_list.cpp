// A list is a chain of entries, which lists with the same end share, so that a clause met again and again makes
// nothing new. Entries are numbered from 1, and a list is the negative number of its first one. An entry is written
// under the lock before its number is known to anybody, and never changed: who holds the number got it from the thread
// that made the entry, or by way of a region that such a thread opened, and thereby sees what was written.
#include "faces/openmp/nthreads_list.h"

#include <climits>

#include "core/spinlock.h"
#include "faces/openmp/member.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

struct Entry {
  int number;
  int rest;  // of the list: as Icv::nthreads holds it, 0 at the end
  int next_alike;
};

constexpr int most_entries = 1 << 16;
constexpr unsigned chains = 1024;
Entry entries[most_entries];  // pages that nobody touched take no memory
int entries_used = 0;
int chain[chains];
core::Spinlock lock;

Entry& entry(int list) { return entries[-list - 1]; }

int keep_entry(int number, int rest) {
  const unsigned hash =
      (static_cast<unsigned>(number) * 0x9e3779b9U ^ static_cast<unsigned>(rest) * 0x85ebca6bU) >> 22U;
  core::SpinGuard guard(lock);
  for (int list = chain[hash]; list != 0; list = entry(list).next_alike)
    if (entry(list).number == number && entry(list).rest == rest) return list;
  if (entries_used == most_entries) return 0;
  const int list = -++entries_used;
  entry(list) = {number, rest, chain[hash]};
  chain[hash] = list;
  return list;
}

}  // namespace

void reset_nthreads_lists() { lock.unlock(); }

constinit std::atomic<int> listed_levels{0};

int keep_nthreads_list(const int* numbers, unsigned count) {
  int list = 0;
  for (unsigned index = count; index != 0; --index) {
    list = keep_entry(numbers[index - 1] > 0 ? numbers[index - 1] : 1, list);
    if (list == 0) return 0;
  }
  listed_levels.store(INT_MAX, std::memory_order_relaxed);
  return list;
}

int first_of_list(int nthreads) { return nthreads < 0 ? entry(nthreads).number : nthreads; }

int with_first(int nthreads, int first) {
  if (nthreads > 0) return first;
  const int list = keep_entry(first, entry(nthreads).rest);
  return list != 0 ? list : first;
}

void take_nthreads_list(Team& team, Member& opener) {
  int& nthreads = team.icv.nthreads;
  if (const int pushed = opener.pushed.inner_threads; pushed != 0) {
    nthreads = pushed;
    opener.pushed.inner_threads = 0;
  } else if (nthreads < 0) {
    if (entry(nthreads).rest != 0) nthreads = entry(nthreads).rest;
  } else if (static_cast<int>(team.level) < settings.nthreads_levels) {
    nthreads = settings.nthreads_list[team.level];
  }
}

}  // namespace weft::openmp
