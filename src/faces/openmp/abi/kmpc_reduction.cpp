// LLVM's entry points for task reductions. The runtime makes the copies and adds them up, by functions that the
// compiler describes for each list item.
//
// A part of a set (task_reduction.h) begins with a byte for each item that says whether its copy has been made: a
// member makes its own copy when it first asks for it, and nobody else looks at its part before the tasks have ended.
// With the task modifier of a parallel or worksharing construct, each member has a taskgroup and a set of its own, all
// with the first one's parts; who ends last adds them up into its own variables, as the construct's reduction expects
// it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/layout.h"
#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task_reduction.h"
#include "faces/openmp/team.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {
namespace {

using Combine = void (*)(void* into, void* from);
using Finish = void (*)(void* copy);

/// kmp_task_red_input_t: what compilers before LLVM 9 pass.
struct OldInput {
  void* variable;
  std::size_t size;
  void (*make)(void* copy);
  Finish finish;
  Combine combine;
  std::uint32_t flags;
};

/// kmp_taskred_input_t.
struct Input {
  void* variable;
  void* original;
  std::size_t size;
  void (*make)(void* copy, void* original);
  Finish finish;
  Combine combine;
  std::uint32_t flags;
};

struct Item {
  void* variable;
  void* original;
  void (*make)(void* copy, void* original);  // nullptr: the copy begins with zeros
  void (*make_alone)(void* copy);
  Finish finish;
  Combine combine;
  std::size_t size;

  explicit Item(const OldInput& from)
      : variable(from.variable),
        original(nullptr),
        make(nullptr),
        make_alone(from.make),
        finish(from.finish),
        combine(from.combine),
        size(from.size) {}
  explicit Item(const Input& from)
      : variable(from.variable),
        original(from.original),
        make(from.make),
        make_alone(nullptr),
        finish(from.finish),
        combine(from.combine),
        size(from.size) {}
};

/// Behind which the items stand.
struct Recipe {
  std::size_t count;
  Recipe* of_first = nullptr;  // of the member whose set has the parts; itself where it is alone
  ReductionSet* set = nullptr;
  std::atomic<unsigned> users{1};  // of the parts; counted in the first one's
  bool listed = false;             // freed with the region unless it is before (free_reductions_later)
  Item* items() { return reinterpret_cast<Item*>(this + 1); }
};

template <class From>
Recipe* make_recipe(std::int32_t count, const From* inputs) {
  const auto size = static_cast<std::size_t>(count);
  void* memory = std::malloc(sizeof(Recipe) + size * sizeof(Item));
  if (memory == nullptr) base::panic("no memory for a task reduction");
  auto recipe = new (memory) Recipe{size};
  for (std::size_t index = 0; index < size; ++index) new (recipe->items() + index) Item(inputs[index]);
  return recipe;
}

// Its parts are the first one's where there is one.
void add_set(const Member& member, Taskgroup& group, Recipe& recipe, Recipe* first) {
  std::size_t stride = base::round_up(recipe.count, base::cache_line);
  const std::size_t begin = stride;
  for (std::size_t index = 0; index < recipe.count; ++index)
    stride += base::round_up(recipe.items()[index].size, base::cache_line);
  ReductionSet* set =
      make_reductions(member, recipe.count, stride, base::cache_line, first != nullptr ? first->set->memory : nullptr);
  std::size_t offset = begin;
  for (std::size_t index = 0; index < recipe.count; ++index) {
    set->items()[index] = {recipe.items()[index].variable, offset};
    offset += base::round_up(recipe.items()[index].size, base::cache_line);
  }
  set->recipe = &recipe;
  recipe.set = set;
  recipe.of_first = first != nullptr ? first : &recipe;
  add_reductions(group, set);
}

bool& made(const ReductionSet& set, std::size_t part, std::size_t index) {
  return reinterpret_cast<bool*>(set.memory + part * set.stride)[index];
}

void* copy_for(const Member& member, const ReductionPlace& place) {
  const ReductionSet& set = *place.set;
  if (set.recipe == nullptr) return place.copy;
  bool& is_made = made(set, member.number, place.index);
  if (!is_made) {
    is_made = true;
    const Item& item = static_cast<Recipe*>(const_cast<void*>(set.recipe))->items()[place.index];
    if (item.make != nullptr)
      item.make(place.copy, item.original);
    else if (item.make_alone != nullptr)
      item.make_alone(place.copy);
  }
  return place.copy;
}

void add_up(Recipe& recipe) {
  ReductionSet& set = *recipe.set;
  for (std::size_t part = 0; part < set.parts; ++part)
    for (std::size_t index = 0; index < recipe.count; ++index) {
      if (!made(set, part, index)) continue;
      const Item& item = recipe.items()[index];
      void* copy = set.memory + part * set.stride + set.items()[index].offset;
      item.combine(item.variable, copy);
      if (item.finish != nullptr) item.finish(copy);
    }
}

void free_recipe(Team& team, Recipe& recipe) {
  if (recipe.listed) take_reductions_back(team, recipe.set);
  free_reductions(recipe.set);
  std::free(&recipe);
}

// The taskgroup has ended.
void end_recipe(Team& team, Recipe& recipe) {
  recipe.set->left_group = nullptr;
  Recipe& first = *recipe.of_first;
  const bool is_last = first.users.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (is_last) add_up(recipe);
  if (&recipe != &first) free_recipe(team, recipe);
  if (is_last) free_recipe(team, first);
}

// The end of the current task's innermost taskgroup, and of its reductions.
void end_group_with_reductions(Member& member) {
  const Taskgroup* group = member.task->group;
  if (group == nullptr) return;
  ReductionSet* set = group->reductions;
  const ReductionSet* around = group->outer != nullptr ? group->outer->reductions : nullptr;
  end_taskgroup(member);
  while (set != around && set != nullptr) {
    ReductionSet* next = set->outer;
    if (set->recipe != nullptr) end_recipe(*member.team, *static_cast<Recipe*>(const_cast<void*>(set->recipe)));
    set = next;
  }
}

template <class From>
void* begin_reductions(std::int32_t count, const From* inputs) {
  Member& member = this_member();
  Taskgroup* group = member.task->group;
  if (group == nullptr) base::fail("a task reduction outside of a taskgroup");
  add_set(member, *group, *make_recipe(count, inputs), nullptr);
  return group;
}

// Bug: who leaves by a cancellation point does not come to the end, for which the first one's parts waited.
void list_for_those_who_leave(Team& team, Taskgroup& group, Recipe& recipe) {
  recipe.listed = true;
  recipe.set->left_group = &group;
  free_reductions_later(team, recipe.set);
}

void* enter_with_recipe(Member& member, void* data, void* of_first) {
  auto recipe = static_cast<Recipe*>(data);
  auto first = static_cast<Recipe*>(of_first);
  if (first == nullptr) recipe->users.store(member.team->size, std::memory_order_relaxed);
  Taskgroup& group = begin_taskgroup(member);
  group.of_worksharing = true;
  add_set(member, group, *recipe, first);
  if (settings.cancellation) list_for_those_who_leave(*member.team, group, *recipe);
  return recipe;
}

template <class From>
void* begin_modifier(std::int32_t count, const From* inputs) {
  Member& member = this_member();
  enter_and_leave_construct(member, {enter_with_recipe, make_recipe(count, inputs)});
  return member.task->group;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void* __kmpc_task_reduction_init(Gtid, std::int32_t count, const OldInput* inputs) {
  return begin_reductions(count, inputs);
}
WEFT_EXPORT void* __kmpc_taskred_init(Gtid, std::int32_t count, const Input* inputs) {
  return begin_reductions(count, inputs);
}

// Parallel or worksharing: every member of the team comes here.
WEFT_EXPORT void* __kmpc_task_reduction_modifier_init(Ident*, Gtid, std::int32_t, std::int32_t count,
                                                      const OldInput* inputs) {
  return begin_modifier(count, inputs);
}
WEFT_EXPORT void* __kmpc_taskred_modifier_init(Ident*, Gtid, std::int32_t, std::int32_t count, const Input* inputs) {
  return begin_modifier(count, inputs);
}
WEFT_EXPORT void __kmpc_task_reduction_modifier_fini(Ident*, Gtid, std::int32_t) {
  end_group_with_reductions(this_member());
}

WEFT_EXPORT void* __kmpc_task_reduction_get_th_data(Gtid, void*, void* address) {
  const Member& member = this_member();
  ReductionPlace place;
  if (!find_reduction(member, address, &place))
    weft::base::fail("couldn't find matching task_reduction or reduction with task modifier for %p", address);
  return copy_for(member, place);
}

WEFT_EXPORT void __kmpc_taskgroup(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    return ompt::begin_watched_taskgroup(WEFT_CALLER);
  begin_taskgroup(this_member());
}
WEFT_EXPORT void __kmpc_end_taskgroup(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    return ompt::end_watched_taskgroup(WEFT_CALLER, end_group_with_reductions);
  end_group_with_reductions(this_member());
}
