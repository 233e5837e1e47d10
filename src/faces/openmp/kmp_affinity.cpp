// One place for each hardware thread, which is the whole core, socket, ... around it as the granularity says; so that a
// place may be there several times, and members that go round them one by one fill a core before they come to the next
// (compact), or come to each socket first (scatter). Threads are put in order by their numbers within what is around
// them, layer by layer: from outside to inside for compact, with the `permute` innermost layers first, and the other
// way round for scatter. Layers that are the same parts of the machine count once.
#include "faces/openmp/kmp_affinity.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/environment.h"
#include "base/panic.h"
#include "faces/openmp/hardware.h"
#include "faces/openmp/hardware_subset.h"
#include "faces/openmp/place_list.h"
#include "faces/openmp/places.h"
#include "os/cpus.h"

namespace weft::openmp {

using base::ValueReader;
using os::CpuSet;

namespace {

enum class Kind : std::uint8_t { unset, none, disabled, compact, scatter, balanced, explicit_, logical, physical };
const char* const kind_words[] = {"none",     "disabled", "compact", "scatter",
                                  "balanced", "explicit", "logical", "physical"};
constexpr int kind_count = 8;

/// The oldest words: compact, one thread of each core after the other or not. OFFSET counts cores.
bool counts_cores(Kind kind) { return kind == Kind::logical || kind == Kind::physical; }

struct Affinity {
  Kind kind = Kind::unset;
  unsigned granularity = of_core;
  unsigned permute = 0;
  unsigned offset = 0;
  bool verbose = false;
  bool quiet = false;
  bool respect = true;
  bool duplicates = true;
  PlaceList listed;
};
constinit Affinity affinity;

struct Switch {
  const char* word;
  bool Affinity::*member;
  bool value;
};
constexpr Switch switches[] = {
    {"verbose", &Affinity::verbose, true},       {"noverbose", &Affinity::verbose, false},
    {"warnings", &Affinity::quiet, false},       {"nowarnings", &Affinity::quiet, true},
    {"respect", &Affinity::respect, true},       {"norespect", &Affinity::respect, false},
    {"duplicates", &Affinity::duplicates, true}, {"noduplicates", &Affinity::duplicates, false},
};

bool read_switch(ValueReader& value, Affinity& result) {
  if (value.take_word("noreset")) return true;  // as it is here
  for (const Switch& one : switches) {
    if (!value.take_word(one.word)) continue;
    result.*one.member = one.value;
    return true;
  }
  return false;
}

/// first[-last[:stride]]
bool read_range(ValueReader& value, PlaceList& list, CpuSet* set) {
  long first = 0;
  if (!value.take_number(first, 0, CpuSet::most - 1)) return false;
  long last = first;
  long stride = 1;
  if (value.take('-') && !value.take_number(last, 0, CpuSet::most - 1)) return false;
  if (value.take(':') && !value.take_number(stride, -CpuSet::most, CpuSet::most)) return false;
  if (stride == 0 || (last - first) * stride < 0) return false;
  for (long cpu = first; stride > 0 ? cpu <= last : cpu >= last; cpu += stride) {
    CpuSet alone;
    (set != nullptr ? *set : alone).add(static_cast<int>(cpu));
    if (set == nullptr && !list.add(alone)) return false;
  }
  return true;
}

/// [0,{1,3},4-8:2], after proclist=
bool read_proclist(ValueReader& value, PlaceList& list) {
  if (!value.take('[')) return false;
  do {
    if (!value.take('{')) {
      if (!read_range(value, list, nullptr)) return false;
      continue;
    }
    CpuSet set;
    do
      if (!read_range(value, list, &set)) return false;
    while (value.take(','));
    if (!value.take('}') || !list.add(set)) return false;
  } while (value.take(','));
  return value.take(']');
}

bool read_words(ValueReader& value, Affinity& result) {
  unsigned numbers = 0;
  do {
    if (read_switch(value, result)) continue;
    if (value.take_word("granularity") || value.take_word("gran")) {
      if (!value.take('=') || !take_layer(value, result.granularity)) return false;
    } else if (value.take_word("proclist")) {
      if (result.listed.count != 0 || !value.take('=') || !read_proclist(value, result.listed)) return false;
    } else if (const int kind = base::take_one_of(value, kind_words, kind_count); kind < kind_count) {
      if (result.kind != Kind::unset) return false;
      result.kind = static_cast<Kind>(kind + 1);
    } else {
      long number = 0;
      if (result.kind == Kind::unset || numbers == 2 || !value.take_number(number, 0, CpuSet::most)) return false;
      (numbers++ == 0 ? result.permute : result.offset) = static_cast<unsigned>(number);
    }
  } while (value.take(','));
  if (result.kind == Kind::unset && result.listed.count != 0) result.kind = Kind::explicit_;
  if (counts_cores(result.kind)) {
    if (numbers == 2) return false;
    result.offset = result.permute;
    result.permute = result.kind == Kind::physical ? 1 : 0;
  }
  return value.at_end() && (result.kind != Kind::explicit_ || result.listed.count != 0);
}

/// By which layers threads are put in order, from outside to inside.
struct Depth {
  unsigned layers[layer_count];
  unsigned count = 0;
};

unsigned parts_in(const Hardware& hardware, unsigned layer) {
  unsigned parts = 0;
  for (unsigned index = 0; index < hardware.count; ++index)
    if (index == 0 || hardware.threads[index].part[layer] != hardware.threads[index - 1].part[layer]) ++parts;
  return parts;
}

Depth layers_that_differ(const Hardware& hardware) {
  Depth depth;
  const unsigned cores = parts_in(hardware, of_core);
  for (unsigned layer = 0; layer < layer_count; ++layer) {
    const bool always = layer == of_package || layer == of_core || layer == of_thread;
    const bool differs = !always && hardware.has[layer] && parts_in(hardware, layer) != cores &&
                         parts_in(hardware, layer) != parts_in(hardware, depth.layers[depth.count - 1]);
    if (always || differs) depth.layers[depth.count++] = layer;
  }
  return depth;
}

/// A thread's number, in each layer, within the part of the layer outside.
struct Numbered {
  const HardwareThread* thread;
  unsigned number[layer_count];
};

void give_numbers(const Hardware& hardware, const Depth& depth, Numbered* numbered) {
  for (unsigned index = 0; index < hardware.count; ++index) {
    Numbered& now = numbered[index];
    now = Numbered{&hardware.threads[index], {}};
    if (index == 0) continue;
    const Numbered& before = numbered[index - 1];
    bool within = true;  // the same parts so far
    for (unsigned at = 0; at < depth.count && within; ++at) {
      within = now.thread->part[depth.layers[at]] == before.thread->part[depth.layers[at]];
      now.number[at] = before.number[at] + (within ? 0 : 1);
    }
  }
}

bool comes_before(const Numbered& one, const Numbered& other, unsigned depth, unsigned innermost_first) {
  for (unsigned turn = 0; turn < depth; ++turn) {
    const unsigned at = turn < innermost_first ? depth - 1 - turn : turn - innermost_first;
    if (one.number[at] != other.number[at]) return one.number[at] < other.number[at];
  }
  return false;
}

/// Stable, and there are few.
void sort(Numbered* numbered, unsigned count, unsigned depth, unsigned innermost_first) {
  for (unsigned end = 1; end < count; ++end) {
    const Numbered moved = numbered[end];
    unsigned at = end;
    for (; at != 0 && comes_before(moved, numbered[at - 1], depth, innermost_first); --at)
      numbered[at] = numbered[at - 1];
    numbered[at] = moved;
  }
}

unsigned innermost_first(unsigned depth) {
  const unsigned deepest = depth - 1;
  if (affinity.kind == Kind::compact || counts_cores(affinity.kind))
    return affinity.permute < deepest ? affinity.permute : deepest;
  if (affinity.kind == Kind::scatter) return affinity.permute < deepest ? deepest - affinity.permute : 0;
  return 0;
}

CpuSet cpus_around(const Hardware& hardware, const HardwareThread& thread, unsigned layer) {
  CpuSet cpus;
  for (unsigned index = 0; index < hardware.count; ++index)
    if (hardware.threads[index].part[layer] == thread.part[layer]) cpus.add(hardware.threads[index].cpu);
  return cpus;
}

/// How many threads each core has; 0: not all have as many.
unsigned threads_per_core(const Hardware& hardware) {
  const unsigned cores = parts_in(hardware, of_core);
  unsigned in_this = 0;
  for (unsigned index = 0; index < hardware.count; ++index) {
    const bool goes_on =
        index != 0 && hardware.threads[index].part[of_core] == hardware.threads[index - 1].part[of_core];
    if (!goes_on && index != 0 && in_this * cores != hardware.count) return 0;
    in_this = goes_on ? in_this + 1 : 1;
  }
  return cores != 0 ? hardware.count / cores : 0;
}

/// Cores, or all threads of each, so that places.per_core of them make up one.
unsigned balanced_layer(const Hardware& hardware) {
  const unsigned per_core = threads_per_core(hardware);
  const bool fine = affinity.granularity == of_thread && per_core != 0;
  places.per_core = fine ? per_core : 1;
  return fine ? of_thread : of_core;
}

void list_places(const Hardware& hardware, PlaceList& list) {
  const bool balanced = affinity.kind == Kind::balanced;
  const unsigned layer = balanced ? balanced_layer(hardware) : existing_layer(hardware, affinity.granularity);
  const Depth depth = layers_that_differ(hardware);
  auto numbered = static_cast<Numbered*>(malloc(sizeof(Numbered) * hardware.count));
  if (numbered == nullptr) base::panic("no memory for the places of KMP_AFFINITY");
  give_numbers(hardware, depth, numbered);
  sort(numbered, hardware.count, depth.count, innermost_first(depth.count));
  for (unsigned index = 0; index < hardware.count; ++index) {
    const CpuSet cpus = cpus_around(hardware, *numbered[index].thread, layer);
    if ((balanced || !affinity.duplicates) && list.find(cpus) != list.count) continue;
    list.add(cpus);
  }
  free(numbered);
  list.foreign = hardware.foreign;
}

}  // namespace

void read_kmp_affinity() {
  base::read_variable(
      "KMP_AFFINITY",
      "none, disabled, compact, scatter, balanced or explicit, PERMUTE and OFFSET after it or not, or logical "
      "or physical with OFFSET or not, and "
      "granularity=fine|core|socket|..., proclist=[0,{1,3},4-8:2], verbose, nowarnings, norespect, "
      "noduplicates, with commas between",
      "(as if it were not set)", [](ValueReader& value) {
        Affinity read;
        if (!read_words(value, read)) {
          free(read.listed.sets);
          return false;
        }
        affinity = read;
        return true;
      });
  if (affinity.respect) return;
  CpuSet all;
  for (int cpu = 0; cpu < CpuSet::most; ++cpu) all.add(cpu);
  os::bind_this_klt(all);
}

bool kmp_affinity_decides() { return affinity.kind != Kind::unset; }

bool use_kmp_affinity() {
  forget_places();
  if (affinity.kind == Kind::none || affinity.kind == Kind::disabled) return false;
  places.turn = affinity.kind == Kind::balanced ? Turn::balanced : Turn::one_each;
  unsigned offset = affinity.kind == Kind::explicit_ ? 0 : affinity.offset;
  if (affinity.kind == Kind::explicit_) {
    take_places(affinity.listed);
  } else {
    Hardware hardware;
    if (hardware_subset.given) hardware.keep_only(hardware_subset.cpus);
    PlaceList list;
    list_places(hardware, list);
    take_places(list);
    if (counts_cores(affinity.kind)) offset *= threads_per_core(hardware);
  }
  keep_usable_places("KMP_AFFINITY", affinity.quiet);
  if (!places.in_use()) return false;
  places.initial = offset % places.count;
  return true;
}

void tell_places_if_verbose() {
  if (!affinity.verbose) return;
  if (!places.in_use()) return base::warn("KMP_AFFINITY: threads are not bound");
  fputs("weft: KMP_AFFINITY: the places are ", stderr);
  show_places();
  fputs("\n", stderr);
}

}  // namespace weft::openmp
