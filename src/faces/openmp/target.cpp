// The thread that runs a target region is its initial thread: a team at level 0, whose ICVs are those
// that the environment gave the device, not those of the code around.
//
// The copies of firstprivate variables and the array of addresses that leads to them lie together: on
// the caller's stack, or in the data of the task. In a task they are made when it is created.
#include "faces/openmp/target.h"

#include <cstdlib>
#include <cstring>

#include "base/layout.h"
#include "base/panic.h"
#include "faces/openmp/dependence.h"
#include "faces/openmp/device_memory.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/region.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

void check_device(int device, const char* by) {
  const bool mandatory = global_icv.target_offload == TargetOffload::mandatory;
  if (device == invalid_device)
    base::fail("%sthere is no device omp_invalid_device (%s)", mandatory ? "OMP_TARGET_OFFLOAD=mandatory: " : "", by);
  if (is_host_device(device) || !mandatory) return;
  base::fail("OMP_TARGET_OFFLOAD=mandatory: there is no device %d (%s)", device, by);
}

/// What lies before the addresses and the copies.
struct Block {
  void (*body)(void*);
  int thread_limit;
};

struct Layout {
  std::size_t size;
  std::size_t alignment;
};

std::size_t offset_of_addresses() { return base::round_up(sizeof(Block), alignof(void*)); }

Layout lay_out(const TargetRegion& region) {
  Layout layout{offset_of_addresses() + region.count * sizeof(void*), alignof(std::max_align_t)};
  std::size_t position = 0;
  for (PrivateCopy copy; region.next_copy(region, position, copy);) {
    layout.size = base::round_up(layout.size, copy.alignment) + copy.size;
    if (copy.alignment > layout.alignment) layout.alignment = copy.alignment;
  }
  return layout;
}

void fill(void* memory, const TargetRegion& region) {
  *static_cast<Block*>(memory) = {region.body, region.thread_limit};
  char* bytes = static_cast<char*>(memory);
  auto** addresses = reinterpret_cast<void**>(bytes + offset_of_addresses());
  if (region.count != 0) memcpy(addresses, region.addresses, region.count * sizeof(void*));
  std::size_t end = offset_of_addresses() + region.count * sizeof(void*);
  std::size_t position = 0;
  for (PrivateCopy copy; region.next_copy(region, position, copy);) {
    end = base::round_up(end, copy.alignment);
    if (copy.size != 0) memcpy(bytes + end, region.addresses[copy.index], copy.size);
    addresses[copy.index] = bytes + end;
    end += copy.size;
  }
}

void run_block(void* memory) {
  const Block block = *static_cast<Block*>(memory);
  Icv icv = settings.icv;
  if (block.thread_limit > 0) icv.thread_limit = block.thread_limit;
  Team& team = open_initial_team(icv);
  if (attends_regions) attend_target_team(team);
  block.body(static_cast<char*>(memory) + offset_of_addresses());
  close_initial_team();
}

}  // namespace

void check_device_of_construct(int device) { check_device(device, "by its device clause"); }

void check_device_of_routine(int device) { check_device(device, "of a device memory routine"); }

void check_default_device() { check_device(icv_of(this_member()).default_device, "the default device"); }

void run_target(const TargetRegion& region, const DependenceList* depend) {
  constexpr std::size_t most_on_stack = 8192;
  const Layout layout = lay_out(region);
  const std::size_t bytes = layout.size + layout.alignment;
  void* kept = bytes > most_on_stack ? malloc(bytes) : nullptr;
  if (bytes > most_on_stack && kept == nullptr) base::panic("no memory for a target region's %zu bytes", bytes);
  void* memory = kept != nullptr ? kept : __builtin_alloca(bytes);
  const auto first = base::round_up(reinterpret_cast<std::uintptr_t>(memory), layout.alignment);
  fill(reinterpret_cast<void*>(first), region);
  if (depend != nullptr) wait_for_dependences(this_member(), *depend);
  run_block(reinterpret_cast<void*>(first));
  free(kept);
}

void create_target_task(const TargetRegion& region, const DependenceList* depend) {
  const Layout layout = lay_out(region);
  const auto copy = [](void* to, void* from) { fill(to, *static_cast<const TargetRegion*>(from)); };
  TargetRegion source = region;
  TaskRequest request{run_block, &source, copy, layout.size, layout.alignment};
  request.depend = depend;
  create_task(this_member(), request);
}

void move_data(const DependenceList* depend, bool nowait) {
  if (depend == nullptr) return;
  if (!nowait) return wait_for_dependences(this_member(), *depend);
  TaskRequest nothing{[](void*) {}, nullptr, nullptr, 0, 1};
  nothing.depend = depend;
  create_task(this_member(), nothing);
}

}  // namespace weft::openmp
