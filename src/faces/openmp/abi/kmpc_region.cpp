// LLVM's entry points for parallel regions.
#include "base/panic.h"
#include "faces/openmp/affinity_display.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/abi/kmpc_outlined.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/region.h"
#include "faces/openmp/team.h"
#include "faces/openmp/thread_number.h"

namespace weft::openmp {
namespace {

void run_region(Member& opener, unsigned size, Outlined& outlined) {
  Team& team = prepare_region(opener, size, call_outlined, &outlined);
  team.code = reinterpret_cast<std::uintptr_t>(outlined.function);
  start_members(team);
  call_outlined(&outlined);
  close_region(team);
}

template <class... Arguments>
[[gnu::noinline]] void call_from_told_frame(Microtask function, Gtid* thread, std::int32_t* number,
                                            Arguments... arguments) {
  ompt::note_frame_of_body(__builtin_frame_address(0));
  reinterpret_cast<void (*)(Gtid*, std::int32_t*, Arguments...)>(function)(thread, number, arguments...);
  ompt::note_frame_of_body(nullptr);
}

// num_threads(strict), and there are fewer.
void tell_of_fewer(const PushedClauses& pushed, unsigned size) {
  const char* message = pushed.message != nullptr ? pushed.message : "num_threads(strict)";
  if (pushed.fatal) base::panic("%s: %u threads are not to be had, but %u", message, pushed.threads, size);
  base::warn("%s: %u threads are not to be had, but %u", message, pushed.threads, size);
}

// The size of the region that num_threads, if it was pushed, is for.
unsigned take_size(Member& member, bool active) {
  PushedClauses& pushed = member.pushed;
  const unsigned size = active ? resolve_size(member, pushed.threads, 0) : 1;
  if (pushed.strict && active && size < pushed.threads) [[unlikely]]
    tell_of_fewer(pushed, size);
  pushed.threads = 0;
  pushed.strict = false;
  return size;
}

// The rest of a list in num_threads.
void push_inner_threads(const std::int32_t* numbers, unsigned count) {
  const int list = keep_nthreads_list(numbers, count);
  if (list == 0 && count != 0) base::warn("num_threads with a list: there are too many different ones");
  this_member().pushed.inner_threads = list;
}

[[gnu::noinline, gnu::cold]] void run_attended_region(ompt::Caller caller, bool active, Outlined& outlined) {
  note_opener(Dialect::llvm);
  Member& member = this_member();
  if (!ompt::watched) return run_region(member, take_size(member, active), outlined);
  const unsigned requested = active ? member.pushed.threads : 1;
  const ompt::RegionCall call(caller, requested);
  Team& team = open_region(member, take_size(member, active), call_watched_outlined, &outlined);
  call_watched_outlined(&outlined);
  close_region(team);
}

}  // namespace

void call_watched_outlined(void* data) {
  auto outlined = static_cast<const Outlined*>(data);
  Gtid thread = thread_number();
  auto number = static_cast<std::int32_t>(this_member().number);
  void* const* rest = outlined->arguments;
  switch (outlined->count) {
    case 0:
      return call_from_told_frame(outlined->function, &thread, &number);
    case 1:
      return call_from_told_frame(outlined->function, &thread, &number, rest[0]);
    case 2:
      return call_from_told_frame(outlined->function, &thread, &number, rest[0], rest[1]);
    case 3:
      return call_from_told_frame(outlined->function, &thread, &number, rest[0], rest[1], rest[2]);
    case 4:
      return call_from_told_frame(outlined->function, &thread, &number, rest[0], rest[1], rest[2], rest[3]);
    default:
      weft_call_with_pointers(outlined->function, &thread, &number, rest, outlined->count);
  }
}

}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_begin(Ident*, std::int32_t) {}
WEFT_EXPORT void __kmpc_end(Ident*) {}

WEFT_EXPORT Gtid __kmpc_global_thread_num(Ident*) { return thread_number(); }
WEFT_EXPORT std::int32_t __kmpc_global_num_threads(Ident*) { return thread_numbers_given(); }
WEFT_EXPORT std::int32_t __kmpc_bound_thread_num(Ident*) { return static_cast<std::int32_t>(this_member().number); }
WEFT_EXPORT std::int32_t __kmpc_bound_num_threads(Ident*) {
  return static_cast<std::int32_t>(team_size(this_member()));
}
WEFT_EXPORT std::int32_t __kmpc_in_parallel(Ident*) { return active_level_of(this_member()) > 0; }
WEFT_EXPORT std::int32_t __kmpc_ok_to_fork(Ident*) { return 1; }

WEFT_EXPORT void __kmpc_fork_call(Ident*, std::int32_t count, Microtask function, ...) {
  WEFT_TAKE_OUTLINED(outlined, function, count);
  if (attends_regions) [[unlikely]]
    return run_attended_region(WEFT_CALLER, true, outlined);
  Member& opener = this_member();
  run_region(opener, take_size(opener, true), outlined);
}

// The compiler has put all arguments into one structure here, or there are none.
WEFT_EXPORT void __kmpc_fork_call_if(Ident*, std::int32_t, Microtask function, std::int32_t condition,
                                     void* arguments) {
  Outlined outlined{function, &arguments, arguments != nullptr ? 1U : 0U};
  if (attends_regions) [[unlikely]]
    return run_attended_region(WEFT_CALLER, condition != 0, outlined);
  Member& opener = this_member();
  run_region(opener, take_size(opener, condition != 0), outlined);
}

// The if clause was false: the thread calls the body itself.
WEFT_EXPORT void __kmpc_serialized_parallel(Ident*, Gtid) {
  const auto open = [] {
    Member& opener = this_member();
    open_region(opener, take_size(opener, false), nullptr, nullptr);
  };
  if (attends_regions) [[unlikely]]
    note_opener(Dialect::llvm);
  if (ompt::watched) [[unlikely]]
    return ompt::open_watched_region(WEFT_CALLER, 1, WEFT_FRAME_OF_CALLER, open);
  open();
}
WEFT_EXPORT void __kmpc_end_serialized_parallel(Ident*, Gtid) { close_region(*this_member().team); }

WEFT_EXPORT void __kmpc_push_num_threads(Ident*, Gtid, std::int32_t threads) {
  this_member().pushed.threads = threads > 0 ? static_cast<unsigned>(threads) : 1;
}
WEFT_EXPORT void __kmpc_pop_num_threads(Ident*, Gtid) {
  PushedClauses& pushed = this_member().pushed;
  pushed.threads = 0;
  pushed.inner_threads = 0;
}
WEFT_EXPORT void __kmpc_push_num_threads_strict(Ident* place, Gtid thread, std::int32_t threads, std::int32_t severity,
                                                const char* message) {
  __kmpc_push_num_threads(place, thread, threads);
  PushedClauses& pushed = this_member().pushed;
  pushed.strict = true;
  pushed.fatal = severity == severity_fatal;
  pushed.message = message;
}
WEFT_EXPORT void __kmpc_push_num_threads_list(Ident* place, Gtid thread, std::uint32_t count,
                                              const std::int32_t* numbers) {
  if (count == 0) return;
  __kmpc_push_num_threads(place, thread, numbers[0]);
  push_inner_threads(numbers + 1, count - 1);
}
WEFT_EXPORT void __kmpc_push_num_threads_list_strict(Ident* place, Gtid thread, std::uint32_t count,
                                                     const std::int32_t* numbers, std::int32_t severity,
                                                     const char* message) {
  if (count == 0) return;
  __kmpc_push_num_threads_strict(place, thread, numbers[0], severity, message);
  push_inner_threads(numbers + 1, count - 1);
}
// As omp_proc_bind_t numbers it, but for 5, which is primary too, and 6, which says nothing.
WEFT_EXPORT void __kmpc_push_proc_bind(Ident*, Gtid, std::int32_t bind) {
  constexpr std::int32_t llvm_primary = 5;
  if (bind == llvm_primary) bind = static_cast<std::int32_t>(ProcBind::primary);
  if (bind >= static_cast<std::int32_t>(ProcBind::primary) && bind <= static_cast<std::int32_t>(ProcBind::spread))
    push_proc_bind(static_cast<unsigned>(bind));
}
