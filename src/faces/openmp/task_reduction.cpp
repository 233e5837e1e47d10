#include "faces/openmp/task_reduction.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/layout.h"
#include "base/panic.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

[[noreturn]] void no_memory() { base::panic("no memory for a task reduction"); }

ReductionSet* make(unsigned parts, std::size_t count, std::size_t stride, std::size_t alignment, char* of_other) {
  void* memory = std::malloc(sizeof(ReductionSet) + count * sizeof(ReductionItem));
  if (memory == nullptr) no_memory();
  auto set = new (memory) ReductionSet;
  set->stride = stride;
  set->parts = parts;
  set->count = count;
  set->owns_memory = of_other == nullptr;
  set->memory = of_other;
  if (of_other != nullptr) return set;
  std::size_t size;
  if (__builtin_mul_overflow(stride, std::size_t{parts}, &size)) no_memory();
  void* copies = nullptr;
  const std::size_t aligned = alignment < base::cache_line ? base::cache_line : alignment;
  if (posix_memalign(&copies, aligned, size != 0 ? size : 1) != 0) no_memory();
  std::memset(copies, 0, size);
  set->memory = static_cast<char*>(copies);
  return set;
}

bool look_up(ReductionSet& set, unsigned number, const void* address, ReductionPlace* place) {
  char* part = set.memory + number * set.stride;
  const ReductionItem* items = set.items();
  for (std::size_t index = 0; index < set.count; ++index) {
    if (items[index].original != address) continue;
    *place = {part + items[index].offset, address, &set, index};
    return true;
  }
  const std::uintptr_t distance =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(set.memory);
  if (distance >= set.stride * set.parts) return false;
  const std::size_t offset = distance % set.stride;
  *place = {part + offset, nullptr, &set, 0};
  for (std::size_t index = 0; index < set.count; ++index)
    if (items[index].offset == offset) *place = {part + offset, items[index].original, &set, index};
  return true;
}

}  // namespace

ReductionSet* make_reductions(unsigned parts, std::size_t count, std::size_t stride, std::size_t alignment) {
  return make(parts, count, stride, alignment, nullptr);
}

ReductionSet* make_reductions(const Member& member, std::size_t count, std::size_t stride, std::size_t alignment,
                              char* memory_of_other) {
  return make(member.team->size, count, stride, alignment, memory_of_other);
}

void free_reductions(ReductionSet* set) {
  if (set->owns_memory) std::free(set->memory);
  std::free(set);
}

void free_reductions_later(Team& team, ReductionSet* set) {
  core::SpinGuard guard(team.tasks.lock);
  set->next_left = team.left_reductions;
  set->link_to_it = &team.left_reductions;
  if (set->next_left != nullptr) set->next_left->link_to_it = &set->next_left;
  team.left_reductions = set;
}

void take_reductions_back(Team& team, ReductionSet* set) {
  core::SpinGuard guard(team.tasks.lock);
  *set->link_to_it = set->next_left;
  if (set->next_left != nullptr) set->next_left->link_to_it = set->link_to_it;
}

void free_left_reductions(Team& team) {
  while (ReductionSet* set = team.left_reductions) {
    team.left_reductions = set->next_left;
    std::free(const_cast<void*>(set->recipe));
    if (set->left_group != nullptr) free_taskgroup(*set->left_group);
    free_reductions(set);
  }
}

void add_reductions(Taskgroup& group, ReductionSet* set) {
  set->outer = group.reductions;
  group.reductions = set;
}

bool find_reduction(const Member& member, const void* address, ReductionPlace* place) {
  const Taskgroup* group = member.task->group;
  for (ReductionSet* set = group != nullptr ? group->reductions : nullptr; set != nullptr; set = set->outer)
    if (look_up(*set, member.number, address, place)) return true;
  return false;
}

}  // namespace weft::openmp
