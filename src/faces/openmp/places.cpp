#include "faces/openmp/places.h"

#include <cstdio>
#include <cstdlib>

#include "base/panic.h"
#include "faces/openmp/hardware_subset.h"
#include "faces/openmp/place_list.h"
#include "os/cpus.h"
#include "os/topology.h"

namespace weft::openmp {

using base::ValueReader;
using os::CpuSet;
using os::Sharing;

constinit Places places;

namespace {

/// What the process may use; of a machine that is only made up, what KMP_HW_SUBSET says. nullptr: all of it.
const CpuSet* usable_of(bool foreign, const CpuSet& own) {
  if (!foreign) return &own;
  return hardware_subset.given ? &hardware_subset.cpus : nullptr;
}

/// Takes away all other CPUs, and sets that have none of these; returns how many sets are left.
template <class Count>
Count keep_only(CpuSet* sets, Count count, const CpuSet& usable) {
  Count kept = 0;
  for (Count index = 0; index < count; ++index) {
    CpuSet set = sets[index];
    set.keep_only(usable);
    if (set.count() != 0) sets[kept++] = set;
  }
  return kept;
}

void visit_group(void* context, const CpuSet& cpus) { static_cast<PlaceList*>(context)->add(cpus); }

/// Of what the process may use. Where hwloc is missing, CPUs are all that is known.
void list_groups(PlaceList& list, Sharing sharing, const char* name) {
  const CpuSet own = os::own_cpus();
  if (os::for_each_group(os::hwloc_library, sharing, visit_group, &list, &list.foreign)) {
    if (const CpuSet* usable = usable_of(list.foreign, own); usable != nullptr)
      list.count = keep_only(list.sets, list.count, *usable);
    return;
  }
  if (sharing != Sharing::thread)
    base::warn("OMP_PLACES=%s: hwloc (libhwloc.so.15) is not there to ask; using threads", name);
  for (int cpu = own.next(0); cpu < CpuSet::most; cpu = own.next(cpu + 1)) {
    CpuSet alone;
    alone.add(cpu);
    list.add(alone);
  }
}

struct Name {
  const char* word;
  Sharing sharing;
};
constexpr Name names[] = {
    {"threads", Sharing::thread},    {"cores", Sharing::core},      {"ll_caches", Sharing::last_cache},
    {"numa_domains", Sharing::node}, {"sockets", Sharing::package},
};

/// NAME or NAME(count): so many of those that the process may use.
bool read_named(ValueReader& value, const Name& name, PlaceList& list) {
  long most = most_places;
  if (value.take('(') && !(value.take_number(most, 1, most_places) && value.take(')'))) return false;
  if (!value.at_end()) return false;
  list_groups(list, name.sharing, name.word);
  if (list.count > most) list.count = most;
  return true;
}

/// What may stand behind a CPU or a place: [:length[:stride]].
struct Repetition {
  long length = 1;
  long stride = 1;
};

bool read_repetition(ValueReader& value, Repetition& repetition) {
  if (!value.take(':')) return true;
  if (!value.take_number(repetition.length, 1, most_places)) return false;
  return !value.take(':') || value.take_number(repetition.stride, -CpuSet::most, CpuSet::most);
}

bool read_cpu(ValueReader& value, long& cpu) { return value.take_number(cpu, 0, CpuSet::most - 1); }

/// {cpu[:length[:stride]] or !cpu, ...}, after the brace, or a single cpu.
bool read_set(ValueReader& value, CpuSet& set) {
  long cpu = 0;
  if (!value.take('{')) {
    if (!read_cpu(value, cpu)) return false;
    set.add(static_cast<int>(cpu));
    return true;
  }
  do {
    const bool without = value.take('!');
    Repetition repetition;
    if (!read_cpu(value, cpu) || (!without && !read_repetition(value, repetition))) return false;
    for (long turn = 0; turn < repetition.length; ++turn, cpu += repetition.stride) {
      if (!CpuSet::in_range(cpu)) return false;
      without ? set.remove(static_cast<int>(cpu)) : set.add(static_cast<int>(cpu));
    }
  } while (value.take(','));
  return value.take('}') && set.count() != 0;
}

bool shift(const CpuSet& from, long by, CpuSet& to) {
  for (int cpu = from.next(0); cpu < CpuSet::most; cpu = from.next(cpu + 1)) {
    if (!CpuSet::in_range(cpu + by)) return false;
    to.add(static_cast<int>(cpu + by));
  }
  return true;
}

bool read_listed(ValueReader& value, PlaceList& list) {
  do {
    const bool without = value.take('!');
    CpuSet set;
    Repetition repetition;
    if (!read_set(value, set)) return false;
    if (without) {
      if (!list.remove(set)) return false;
      continue;
    }
    if (!read_repetition(value, repetition)) return false;
    for (long turn = 0; turn < repetition.length; ++turn) {
      CpuSet next;
      if (!shift(set, turn * repetition.stride, next) || !list.add(next)) return false;
    }
  } while (value.take(','));
  return value.at_end() && list.count != 0;
}

bool read_any(ValueReader& value, PlaceList& list) {
  for (const Name& name : names)
    if (value.take_word(name.word)) return read_named(value, name, list);
  return read_listed(value, list);
}

/// first[-last[:stride]] ..., with blanks or commas between.
bool read_cpus(ValueReader& value, PlaceList& list) {
  do {
    long first = 0;
    if (!read_cpu(value, first)) return false;
    long last = first;
    long stride = 1;
    if (value.take('-')) {
      if (!value.take_number(last, first, CpuSet::most - 1)) return false;
      if (value.take(':') && !value.take_number(stride, 1, CpuSet::most)) return false;
    }
    for (long cpu = first; cpu <= last; cpu += stride) {
      CpuSet alone;
      alone.add(static_cast<int>(cpu));
      if (!list.add(alone)) return false;
    }
    value.take(',');
  } while (!value.at_end());
  return true;
}

bool keep_if(bool good, PlaceList& list) {
  if (good)
    take_places(list);
  else
    free(list.sets);
  return good;
}

void show_place(const CpuSet& set) {
  const char* separator = "{";
  for (int cpu = set.next(0); cpu < CpuSet::most;) {
    int end = cpu + 1;
    while (end < CpuSet::most && set.has(end)) ++end;
    fprintf(stderr, "%s%d", separator, cpu);
    if (end - cpu > 1) fprintf(stderr, ":%d", end - cpu);
    separator = ",";
    cpu = set.next(end);
  }
  fputs("}", stderr);
}

}  // namespace

void take_places(const PlaceList& list) {
  free(places.sets);
  places.sets = list.sets;
  places.count = static_cast<unsigned>(list.count);
  places.foreign = list.foreign;
}

bool read_places(ValueReader& value) {
  PlaceList list;
  return keep_if(read_any(value, list), list);
}

bool read_cpu_affinity(ValueReader& value) {
  PlaceList list;
  return keep_if(read_cpus(value, list), list);
}

void use_threads_as_places() {
  PlaceList list;
  list_groups(list, Sharing::thread, "threads");
  take_places(list);
}

void keep_usable_places(const char* source, bool quiet) {
  const CpuSet own = os::own_cpus();
  places.usable_cpus = own.count();
  const CpuSet* usable = usable_of(places.foreign, own);
  if (usable == nullptr) return;
  const unsigned kept = keep_only(places.sets, places.count, *usable);
  if (quiet || hardware_subset.given) {
    places.count = kept;
    return;
  }
  if (kept == 0)
    base::warn("%s: none of the places has a CPU that the process may use; threads are not bound", source);
  else if (kept < places.count)
    base::warn("%s: of %u places, %u have no CPU that the process may use; they are left out", source, places.count,
               places.count - kept);
  places.count = kept;
}

void forget_places() { places.count = 0; }

void show_places() {
  for (unsigned index = 0; index < places.count; ++index) {
    if (index != 0) fputs(",", stderr);
    show_place(places.sets[index]);
  }
}

}  // namespace weft::openmp
