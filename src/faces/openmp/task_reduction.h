// Task reductions (OpenMP 5.2, 5.5.9 and 5.5.10): the private copies that tasks with in_reduction work on.
//
// A construct with task_reduction (or reduction with the task modifier) brings a set: a part of memory for each member
// of the team, each with a copy of every list item. A task uses the copies of the member that runs it, which it is run
// by from begin to end. Sets belong to taskgroups; a task looks for a list item in its innermost taskgroup's sets
// first, then in those around. It knows the item by the original's address, or, if the task around it had the same item
// in its own in_reduction, by that of a copy. What the copies start from, and what they are added up to, is the
// compiler's business, or that of its entry points.
#pragma once

#include <cstddef>

#include "faces/openmp/member.h"
#include "faces/openmp/task.h"

namespace weft::openmp {

struct ReductionItem {
  const void* original;
  std::size_t offset;  // of the copy, in each part
};

struct ReductionSet {
  ReductionSet* outer = nullptr;  // of the same taskgroup, or of those around it
  char* memory = nullptr;
  std::size_t stride = 0;  // of a part
  unsigned parts = 0;
  std::size_t count = 0;
  bool owns_memory = true;
  ReductionSet* next_described = nullptr;  // by the same construct, for a compiler that describes several
  const void* recipe = nullptr;  // how copies are made and added up, for a compiler that leaves it to the runtime
  // In the list of those that are freed with the region (Team::left_reductions).
  ReductionSet* next_left = nullptr;
  ReductionSet** link_to_it = nullptr;
  Taskgroup* left_group = nullptr;  // freed with it

  ReductionItem* items() { return reinterpret_cast<ReductionItem*>(this + 1); }
};

/// A set for the caller's team with `count` items, which the caller fills in, and zeroed parts of `stride` bytes; or
/// with parts that another member's set has, and will keep until no task uses this one.
ReductionSet* make_reductions(const Member& member, std::size_t count, std::size_t stride, std::size_t alignment,
                              char* memory_of_other = nullptr);
ReductionSet* make_reductions(unsigned parts, std::size_t count, std::size_t stride, std::size_t alignment);
void free_reductions(ReductionSet* set);
/// The same when the region ends, with the recipe and `left_group`: in a cancelled one, where tasks of other members
/// may still use the copies; or where nobody may come to do it, since members leave by cancellation points.
void free_reductions_later(Team& team, ReductionSet* set);
/// Somebody has come, and does it.
void take_reductions_back(Team& team, ReductionSet* set);
/// The region has ended.
void free_left_reductions(Team& team);

/// From now on the tasks of the group find the set. It must last as long as they do.
void add_reductions(Taskgroup& group, ReductionSet* set);

struct ReductionPlace {
  void* copy;            // for the calling member
  const void* original;  // nullptr if `address` pointed into the midst of a copy
  ReductionSet* set;
  std::size_t index;  // of the item in it
};

/// What the current task shall use for the list item at `address`. False: no set around has it.
bool find_reduction(const Member& member, const void* address, ReductionPlace* place);

}  // namespace weft::openmp
