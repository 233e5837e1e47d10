// The topology is read once, and what is kept is a small table. hwloc stays loaded: it may have brought in plugins of
// others, which nobody promises can be unloaded.
//
// Rejected: linking to hwloc (every program would load it, most never ask); reading /sys ourselves (hwloc knows the
// kernels that lie, and takes a topology of one's own from HWLOC_XMLFILE and HWLOC_SYNTHETIC).
#include "os/distance.h"

#include <atomic>
#include <cstddef>

#include "os/hwloc_library.h"
#include "os/klt.h"
#include "os/topology.h"

namespace weft::os {
namespace {

enum State : unsigned { not_asked, reading, known, unknowable };
std::atomic<unsigned> state{not_asked};

// Numbers of what a CPU is part of; `none` is part of nothing.
constexpr short none = -1;
struct Place {
  short core = none;
  short l2 = none;
  short l3 = none;
  short package = none;
  short node = none;
};
constexpr int most_cpus = 2048;
Place places[most_cpus];

Place place_of(const hwloc_obj* cpu) {
  Place place;
  for (const hwloc_obj* object = cpu->parent; object != nullptr; object = object->parent) {
    const auto number = static_cast<short>(object->logical_index);
    if (object->type == HWLOC_OBJ_CORE) place.core = number;
    if (object->type == HWLOC_OBJ_L2CACHE) place.l2 = number;
    if (object->type == HWLOC_OBJ_L3CACHE) place.l3 = number;
    if (object->type == HWLOC_OBJ_PACKAGE) place.package = number;
    if (place.node == none && object->memory_arity > 0)
      place.node = static_cast<short>(object->memory_first_child->logical_index);
  }
  return place;
}

bool read_topology(const char* library) {
  Hwloc hwloc{};
  hwloc_topology_t topology = nullptr;
  if (!load_hwloc(library, hwloc) || hwloc.topology_init(&topology) != 0) return false;
  const bool loaded = hwloc.topology_load(topology) == 0;
  const int depth = loaded ? hwloc.get_type_depth(topology, HWLOC_OBJ_PU) : 0;
  const unsigned count = loaded && depth > 0 ? hwloc.count_by_depth(topology, depth) : 0;
  for (unsigned index = 0; index < count; ++index) {
    const hwloc_obj* cpu = hwloc.object_by_depth(topology, depth, index);
    if (cpu->os_index < static_cast<unsigned>(most_cpus)) places[cpu->os_index] = place_of(cpu);
  }
  hwloc.topology_destroy(topology);
  return count > 0;
}

void* read_and_end(void*) {
  state.store(read_topology(hwloc_library) ? known : unknowable, std::memory_order_release);
  note_klt_end();
  return nullptr;
}

bool ask() {
  unsigned before = not_asked;
  return state.load(std::memory_order_relaxed) == not_asked &&
         state.compare_exchange_strong(before, reading, std::memory_order_acq_rel);
}

bool same(short number, short other) { return number != none && number == other; }

}  // namespace

// The release store after the last change of `places` is this load's partner.
bool distances_known() { return state.load(std::memory_order_acquire) == known; }

unsigned distance(int cpu, int other) {
  if (!distances_known() || cpu < 0 || cpu >= most_cpus || other < 0 || other >= most_cpus) return farthest;
  if (cpu == other) return 0;
  const Place& one = places[cpu];
  const Place& two = places[other];
  if (same(one.core, two.core)) return 0;
  if (same(one.l2, two.l2)) return 1;
  if (same(one.l3, two.l3)) return 2;
  const unsigned shared = (same(one.package, two.package) ? 1U : 0U) + (same(one.node, two.node) ? 1U : 0U);
  return farthest - shared;
}

void ask_for_distances() {
  if (!ask()) return;
  constexpr std::size_t stack_bytes = std::size_t{1} << 20U;
  if (start_klt(read_and_end, nullptr, stack_bytes, Signals::none) != 0)
    state.store(unknowable, std::memory_order_relaxed);
}

bool read_distances(const char* library) {
  if (ask()) state.store(read_topology(library) ? known : unknowable, std::memory_order_release);
  return distances_known();
}

void reset_distances() {
  unsigned interrupted = reading;
  state.compare_exchange_strong(interrupted, not_asked, std::memory_order_relaxed);
}

}  // namespace weft::os
