#include "faces/openmp/hardware.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "os/cpus.h"
#include "os/topology.h"

namespace weft::openmp {

using os::CpuSet;
using os::Sharing;

namespace {

constexpr Sharing sharing_of[layer_count] = {Sharing::package,  Sharing::die,      Sharing::node, Sharing::l3_cache,
                                             Sharing::l2_cache, Sharing::l1_cache, Sharing::core, Sharing::thread};

struct Visit {
  Hardware& hardware;
  Layer layer;
  unsigned groups = 0;
};

void add_thread(void* context, const CpuSet& cpus) {
  Hardware& hardware = *static_cast<Hardware*>(context);
  const int cpu = cpus.next(0);
  if (cpu >= CpuSet::most || hardware.count == CpuSet::most) return;
  HardwareThread& thread = *new (&hardware.threads[hardware.count]) HardwareThread;
  thread.cpu = cpu;
  for (unsigned layer = of_core; layer < layer_count; ++layer) thread.part[layer] = hardware.count;
  ++hardware.count;
}

void note_group(void* context, const CpuSet& cpus) {
  Visit& visit = *static_cast<Visit*>(context);
  for (unsigned index = 0; index < visit.hardware.count; ++index) {
    HardwareThread& thread = visit.hardware.threads[index];
    if (cpus.has(thread.cpu)) thread.part[visit.layer] = visit.groups;
  }
  ++visit.groups;
}

struct Name {
  const char* word;
  unsigned layer;
};
constexpr Name names[] = {
    {"s", of_package},
    {"socket", of_package},
    {"sockets", of_package},
    {"package", of_package},
    {"d", of_die},
    {"die", of_die},
    {"dice", of_die},
    {"n", of_node},
    {"numa", of_node},
    {"node", of_node},
    {"numa_domain", of_node},
    {"numa_domains", of_node},
    {"l3", of_l3},
    {"l3_cache", of_l3},
    {"l3_caches", of_l3},
    {"l2", of_l2},
    {"l2_cache", of_l2},
    {"l2_caches", of_l2},
    {"l1", of_l1},
    {"l1_cache", of_l1},
    {"l1_caches", of_l1},
    {"ll", last_cache},
    {"ll_cache", last_cache},
    {"ll_caches", last_cache},
    {"c", of_core},
    {"core", of_core},
    {"cores", of_core},
    {"t", of_thread},
    {"thread", of_thread},
    {"threads", of_thread},
    {"fine", of_thread},
};

}  // namespace

Hardware::Hardware() : threads(static_cast<HardwareThread*>(malloc(sizeof(HardwareThread) * CpuSet::most))) {
  if (threads == nullptr) base::panic("no memory for the machine's topology");
  has[of_package] = has[of_core] = has[of_thread] = true;
  if (!os::for_each_group(os::hwloc_library, Sharing::thread, add_thread, this, &foreign)) {
    const CpuSet own = os::own_cpus();
    for (int cpu = own.next(0); cpu < CpuSet::most; cpu = own.next(cpu + 1)) {
      CpuSet alone;
      alone.add(cpu);
      add_thread(this, alone);
    }
    return;
  }
  for (unsigned layer = 0; layer < of_thread; ++layer) {
    Visit visit{*this, static_cast<Layer>(layer)};
    if (os::for_each_group(os::hwloc_library, sharing_of[layer], note_group, &visit, &foreign)) has[layer] = true;
  }
  if (!foreign) keep_only(os::own_cpus());
}

Hardware::~Hardware() { free(threads); }

void Hardware::keep_only(const CpuSet& cpus) {
  unsigned kept = 0;
  for (unsigned index = 0; index < count; ++index)
    if (cpus.has(threads[index].cpu)) threads[kept++] = threads[index];
  count = kept;
}

bool take_layer(base::ValueReader& value, unsigned& layer) {
  for (const Name& name : names) {
    if (!value.take_word(name.word)) continue;
    layer = name.layer;
    return true;
  }
  return false;
}

Layer existing_layer(const Hardware& hardware, unsigned layer) {
  if (layer == last_cache) {
    for (unsigned cache = of_l3; cache <= of_l1; ++cache)
      if (hardware.has[cache]) return static_cast<Layer>(cache);
    return of_package;
  }
  while (!hardware.has[layer]) --layer;
  return static_cast<Layer>(layer);
}

}  // namespace weft::openmp
