// GCC's entry points for task reductions. The compiler's description is an array of words, followed by further ones:
//
//   0     number of list items                 4     the next such array; 0: none
//   1     size of a member's part               5     ours: the set
//   2     alignment; on return, the memory      6     on return, the end of the memory
//   3     not used here                         7...  3 words for each item: the original, its offset in a part, unused
#include "faces/openmp/abi/gomp_reduction.h"

#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_flags.h"
#include "faces/openmp/member.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/region.h"
#include "faces/openmp/task_reduction.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

enum Word : unsigned { word_count, word_stride, word_memory, word_next = 4, word_set, word_end, word_items };
constexpr unsigned words_for_item = 3;

std::uintptr_t* next_of(const std::uintptr_t* data) { return reinterpret_cast<std::uintptr_t*>(data[word_next]); }
ReductionSet* set_of(const std::uintptr_t* data) { return reinterpret_cast<ReductionSet*>(data[word_set]); }

// `of_first`: the sets of the first member of a worksharing construct, whose memory serves all of them. (Bug: it was
// that member's description, which lies on its stack, and in a cancelled region may be gone.) Returns the first set.
ReductionSet* make_sets(unsigned parts, std::uintptr_t* data, const ReductionSet* of_first, Taskgroup* group,
                        const Member& member) {
  ReductionSet* first = nullptr;
  ReductionSet** link = &first;
  for (std::uintptr_t* each = data; each != nullptr; each = next_of(each)) {
    const std::size_t count = each[word_count], stride = each[word_stride];
    ReductionSet* set = of_first != nullptr ? make_reductions(member, count, stride, 0, of_first->memory)
                                            : make_reductions(parts, count, stride, each[word_memory]);
    for (std::size_t index = 0; index < count; ++index) {
      const std::uintptr_t* item = each + word_items + words_for_item * index;
      set->items()[index] = {reinterpret_cast<const void*>(item[0]), item[1]};
    }
    each[word_memory] = reinterpret_cast<std::uintptr_t>(set->memory);
    each[word_end] = each[word_memory] + stride * parts;
    each[word_set] = reinterpret_cast<std::uintptr_t>(set);
    if (group != nullptr) add_reductions(*group, set);
    if (of_first != nullptr) of_first = of_first->next_described;
    *link = set;
    link = &set->next_described;
  }
  return first;
}

void free_sets(const std::uintptr_t* data) {
  for (; data != nullptr; data = next_of(data)) free_reductions(set_of(data));
}

void* enter_worksharing(Member& member, void* data, void* of_first) {
  Taskgroup& group = begin_taskgroup(member);
  group.of_worksharing = true;
  group.construct_data = data;
  return make_sets(member.team->size, static_cast<std::uintptr_t*>(data), static_cast<ReductionSet*>(of_first), &group,
                   member);
}

}  // namespace

void register_reductions(Member& member, std::uintptr_t* data) {
  make_sets(member.team->size, data, nullptr, member.task->group, member);
}

void register_reductions_without_tasks(Member& member, std::uintptr_t* data) {
  make_sets(member.team->size, data, nullptr, nullptr, member);
}

namespace {

template <class Call>
inline unsigned run_with_reductions(Call call, void (*function)(void*), void* data, unsigned threads) {
  Member& opener = this_member();
  const unsigned size = resolve_size(opener, threads, 0);
  Taskgroup group;
  make_sets(size, *static_cast<std::uintptr_t**>(data), nullptr, &group, opener);
  Team& team = prepare_region(opener, size, function, data);
  team.group = &group;
  team.master.implicit.group = &group;
  start_members(team);
  call(function, data);
  const unsigned members = team.size;  // a single one in some handlers, whatever was asked for
  close_region(team);
  return members;
}

}  // namespace

EntryStep reductions_of_worksharing(std::uintptr_t* data) { return {enter_worksharing, data}; }

}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void GOMP_taskgroup_reduction_register(std::uintptr_t* data) { register_reductions(this_member(), data); }

WEFT_EXPORT void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) { free_sets(data); }

/// Replaces `count` addresses of list items by those of the copies to use, and notes the originals of the first
/// `originals` of them behind.
WEFT_EXPORT void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
  const Member& member = this_member();
  for (std::size_t index = 0; index < count; ++index) {
    ReductionPlace place;
    if (!find_reduction(member, addresses[index], &place) || (index < originals && place.original == nullptr))
      weft::base::fail("couldn't find matching task_reduction or reduction with task modifier for %p",
                       addresses[index]);
    addresses[index] = place.copy;
    if (index < originals) addresses[count + index] = const_cast<void*>(place.original);
  }
}

/// The end of a worksharing construct with task reductions; the members have met in a barrier before, and meet again
/// after member 0 has added the copies up and left, unless the region is cancelled. The compiler says so where it sees
/// the region around. (Bug: it was taken at its word, but it sees none around an orphaned construct, whose first member
/// then took the copies away from the others.)
WEFT_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  Member& member = this_member();
  auto data = static_cast<std::uintptr_t*>(member.task->group->construct_data);
  end_taskgroup(member);
  if (!cancelled) team_barrier(member);  // member 0 is through with the copies, which may be another's
  if (cancelled || is_cancelled(*member.team)) {
    for (; data != nullptr; data = next_of(data)) free_reductions_later(*member.team, set_of(data));
    return;
  }
  free_sets(data);
}

/// A parallel region with reduction(task, ...): the implicit tasks are in a taskgroup, whose description the program's
/// data begins with. Its copies are added up after the region.
WEFT_EXPORT unsigned GOMP_parallel_reductions(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  note_proc_bind(flags);
  if (ompt::watched) [[unlikely]] {
    const ompt::RegionCall call(WEFT_CALLER, threads);
    return run_with_reductions(ompt::call_body, function, data, threads);
  }
  return run_with_reductions([](void (*body)(void*), void* argument) { body(argument); }, function, data, threads);
}

/// A scope with task reductions; its end is a barrier and the unregistering above.
WEFT_EXPORT void GOMP_scope_start(std::uintptr_t* reductions) {
  Member& member = this_member();
  enter_and_leave_construct(member, reductions_of_worksharing(reductions));
}
