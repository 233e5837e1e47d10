// Units: the C API, but for creating them (unit_create.cpp). What a handle means is the core's; here arguments are
// looked at.
#include "api/convert.h"
#include "base/panic.h"
#include "core/create.h"
#include "core/extras.h"
#include "core/fork.h"
#include "core/scheduler.h"
#include "core/technique/choice.h"
#include "core/technique/start.h"
#include "core/timer.h"

using namespace weft;
using api::handle_of;
using api::unit_of;

namespace {

// The calling unit, if it may wait.
int check_waiter() { return core::may_wait(core::this_unit()) ? WEFT_OK : WEFT_ERR_STACKLESS; }

[[gnu::noinline]] int wait_for(core::Worker& worker, core::Unit& unit, std::uint64_t nanoseconds) {
  if (&unit == worker.current) return WEFT_ERR_ARGUMENT;
  if (nanoseconds == 0) return WEFT_ERR_TIMEOUT;
  if (!core::may_wait(*worker.current)) return WEFT_ERR_STACKLESS;
  const core::Pool* pool = unit.pool.load(std::memory_order_acquire);
  const bool is_private = pool != nullptr && pool->access() == core::Access::priv;
  if (is_private && unit.birth != worker.index) return WEFT_ERR_ACCESS;
  if (nanoseconds == WEFT_FOREVER) {
    core::wait_for_end(unit);
    return WEFT_OK;
  }
  if (!core::serves_deadlines()) return WEFT_ERR_LIMIT;
  return core::wait_for_end_until(unit, core::deadline_after(nanoseconds)) ? WEFT_OK : WEFT_ERR_TIMEOUT;
}

inline int join(weft_unit* handle, std::uint64_t nanoseconds) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Unit& unit = *unit_of(handle);
  if (core::is_done(unit)) return WEFT_OK;
  core::Worker& worker = core::worker_here();
  if (nanoseconds == WEFT_FOREVER && core::run_by_joiner(worker, unit)) return WEFT_OK;
  return wait_for(worker, unit, nanoseconds);
}

}  // namespace

extern "C" int weft_unit_join(weft_unit* handle) { return join(handle, WEFT_FOREVER); }
extern "C" int weft_unit_timed_join(weft_unit* handle, uint64_t nanoseconds) { return join(handle, nanoseconds); }

namespace {

[[gnu::noinline]] int join_and_free(weft_unit* handle) {
  if (const int error = join(handle, WEFT_FOREVER); error != WEFT_OK) return error;
  core::free_unit(core::worker_here(), *unit_of(handle));
  return WEFT_OK;
}

[[gnu::noinline]] int free_slowly(weft_unit* handle) {
  core::Worker* worker = core::this_worker();
  if (handle == nullptr || worker == nullptr || !core::is_done(*unit_of(handle))) [[unlikely]]
    return join_and_free(handle);
  core::free_unit(*worker, *unit_of(handle));
  return WEFT_OK;
}

// One that has a stack to give back, mostly.
[[gnu::noinline]] int free_not_bare(core::Worker& worker, core::Unit& unit) {
  if (!core::is_done(unit)) return join_and_free(handle_of(&unit));
  if (worker.units.full() || !core::strip_quickly(worker, unit)) [[unlikely]]
    return free_slowly(handle_of(&unit));
  worker.units.give_present(unit);
  return WEFT_OK;
}

// Nothing else is to be done to free the unit. False: there is, or it may not be done.
inline bool is_free_at_once(const core::Unit& unit) { return core::is_done(unit) && core::is_bare(unit); }

inline bool free_quickly(core::Worker& worker, core::Unit& unit) {
  if (!is_free_at_once(unit) || worker.units.full()) return false;
  worker.units.give_present(unit);
  return true;
}

// Those of the first that can be freed so; how many.
inline std::size_t free_quickly(core::Worker& worker, std::size_t count, weft_unit* const* units) {
  core::Unit** place = worker.units.place();
  const std::size_t most = count < worker.units.room() ? count : worker.units.room();
  std::size_t freed = 0;
  for (; freed < most && units[freed] != nullptr && is_free_at_once(*unit_of(units[freed])); ++freed)
    place[freed] = unit_of(units[freed]);
  worker.units.given(place + freed);
  return freed;
}

}  // namespace

extern "C" int weft_unit_free(weft_unit* handle) {
  core::Worker* worker = core::this_worker();
  if (handle == nullptr || worker == nullptr) [[unlikely]]
    return free_slowly(handle);
  return free_quickly(*worker, *unit_of(handle)) ? WEFT_OK : free_not_bare(*worker, *unit_of(handle));
}

namespace {

// Of many: the first that is not done is waited for, after the last of all, which ends last as a rule; so the caller
// waits once instead of once for each. What is wrong with the last one is told when its turn comes.
[[gnu::noinline]] void wait_for_last(size_t count, weft_unit* const* units, size_t index) {
  weft_unit* last = units[count - 1];
  if (index + 1 < count && last != nullptr && !core::is_done(*unit_of(last)) && units[index] != nullptr)
    join(last, WEFT_FOREVER);
}

}  // namespace

extern "C" int weft_unit_join_many(size_t count, weft_unit* const* units) {
  if (count != 0 && units == nullptr) return WEFT_ERR_ARGUMENT;
  bool first_wait = true;
  for (size_t index = 0; index < count; ++index) {
    if (units[index] != nullptr && core::is_done(*unit_of(units[index]))) continue;
    if (first_wait) wait_for_last(count, units, index);
    first_wait = false;
    if (const int error = weft_unit_join(units[index]); error != WEFT_OK) return error;
  }
  return WEFT_OK;
}

extern "C" int weft_unit_free_many(size_t count, weft_unit* const* units) {
  if (count != 0 && units == nullptr) return WEFT_ERR_ARGUMENT;
  bool first_wait = true;
  for (size_t index = 0;; ++index) {
    index += free_quickly(core::worker_here(), count - index, units + index);  // anew: the caller may have waited
    if (index == count) return WEFT_OK;
    if (first_wait) wait_for_last(count, units, index);
    first_wait = false;
    if (const int error = weft_unit_free(units[index]); error != WEFT_OK) return error;
  }
}

extern "C" int weft_unit_detach(weft_unit* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  return core::detach(*unit_of(handle)) ? WEFT_OK : WEFT_ERR_STATE;
}

extern "C" int weft_unit_revive(weft_unit* handle, void (*entry)(void*), void* argument) {
  core::Unit* unit = unit_of(handle);
  if (unit == nullptr || entry == nullptr) return WEFT_ERR_ARGUMENT;
  if (!core::is_done(*unit)) return WEFT_ERR_STATE;
  core::renew(*unit, entry, argument);
  core::launch(core::worker_here(), *unit);
  return WEFT_OK;
}

extern "C" weft_unit* weft_unit_self() {
  core::Worker* worker = core::this_worker();
  if (worker == nullptr) return nullptr;
  core::Unit* unit = worker->current;
  if (unit == nullptr || unit == &worker->scheduler_code || core::is_root(*unit)) return nullptr;
  return handle_of(unit);
}

extern "C" void weft_unit_exit() {
  core::Unit& unit = core::this_unit();
  if (core::is_root(unit) && core::this_worker()->root.was_unit) core::end_forked();
  if (core::is_root(unit) || !core::may_wait(unit) || !core::has_flag(unit, core::UnitFlag::free_standing))
    base::panic("weft_unit_exit: only a unit with a stack can exit");
  core::exit_unit(unit);
}

extern "C" int weft_unit_cancel(weft_unit* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  unit_of(handle)->flags.fetch_or(core::UnitFlag::cancelled, std::memory_order_relaxed);
  return WEFT_OK;
}

namespace {

// At a point where the calling unit, no root, can be cancelled.
void exit_if_cancelled(core::Unit& unit) {
  if (core::has_flag(unit, core::UnitFlag::cancelled) && !core::ends_extras(unit)) core::exit_unit(unit);
}

}  // namespace

extern "C" void weft_cancel_point() {
  core::Unit& unit = core::this_unit();
  if (!core::is_root(unit) && core::may_wait(unit)) exit_if_cancelled(unit);
}

namespace {

[[gnu::noinline]] int yield_slowly() {
  if (const int error = check_waiter(); error != WEFT_OK) return error;
  weft_cancel_point();
  core::yield();
  return WEFT_OK;
}

[[gnu::noinline]] int yield_to_slowly(core::Unit& next) {
  core::Unit& unit = core::this_unit();
  if (!core::may_wait(unit)) return WEFT_ERR_STACKLESS;
  if (core::is_root(unit) || &unit == &next) return WEFT_ERR_STATE;
  exit_if_cancelled(unit);
  return core::yield_to(next) ? WEFT_OK : WEFT_ERR_STATE;
}

// Whether there is nothing about the unit that runs but that it leaves its stack.
[[gnu::always_inline]] inline bool yields_plainly(const core::Unit& unit) {
  constexpr unsigned others = core::UnitFlag::wants_identity | core::UnitFlag::cancelled;
  const unsigned flags = unit.flags.load(std::memory_order_relaxed);
  return (flags & (others | core::UnitFlag::free_standing)) == core::UnitFlag::free_standing && core::may_wait(unit);
}

}  // namespace

extern "C" int weft_yield() {
  core::Worker* worker = core::this_worker();
  if (worker == nullptr || !yields_plainly(*worker->current)) return yield_slowly();
  return core::yield_unit(*worker, *worker->current);
}

extern "C" int weft_yield_to(weft_unit* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Unit& next = *unit_of(handle);
  core::Worker* worker = core::this_worker();
  if (worker == nullptr || !yields_plainly(*worker->current) || worker->current == &next) return yield_to_slowly(next);
  return core::yield_to_first(*worker, *worker->current, next, yield_to_slowly);
}

extern "C" weft_state weft_unit_state(const weft_unit* handle) {
  if (handle == nullptr) return WEFT_DONE;
  const core::Unit& unit = *unit_of(handle);
  const core::UnitState state = unit.state.load(std::memory_order_acquire);
  // Its last instructions, after it says so itself: it can be neither revived nor joined at once.
  if (state == core::UnitState::done && !core::is_done(unit)) return WEFT_RUNNING;
  return api::state_of(state);
}

extern "C" const char* weft_unit_name(const weft_unit* handle) {
  if (handle == nullptr) return "";
  const char* name = details(*unit_of(handle)).name;
  return name != nullptr ? name : "";
}

extern "C" int weft_unit_set_name(weft_unit* handle, const char* name) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Unit& unit = *unit_of(handle);
  details(unit).name = name;
  unit.flags.fetch_or(core::UnitFlag::detailed, std::memory_order_relaxed);
  return WEFT_OK;
}

extern "C" weft_technique weft_unit_technique(const weft_unit* handle) {
  return handle != nullptr ? api::technique_of(*unit_of(handle)) : WEFT_AUTO;
}

extern "C" int weft_unit_get_statistics(const weft_unit* handle, weft_unit_statistics* statistics) {
  if (handle == nullptr || statistics == nullptr) return WEFT_ERR_ARGUMENT;
  const core::Unit& unit = *unit_of(handle);
  const core::UnitDetails& of_unit = details(unit);
  *statistics = {std::uint64_t{of_unit.revivals} + 1, unit.deviations, unit.moves};
  return WEFT_OK;
}

extern "C" int weft_auto_choice(void (*entry)(void*), weft_choice* choice) {
  if (entry == nullptr || choice == nullptr) return WEFT_ERR_ARGUMENT;
  const core::Choice known = core::known_of(core::worker_here(), entry);
  *choice = {static_cast<weft_technique>(known.technique), known.units, known.deviated};
  return WEFT_OK;
}

extern "C" const char* weft_technique_name(weft_technique technique) {
  static const char* const names[] = {"auto", "Stackless", "Full",   "Full-L",   "RoC",   "RoC-L",  "SS",
                                      "SS-L", "SC",        "C-Full", "C-Full-E", "C-RoC", "C-RoC-E"};
  return technique >= WEFT_AUTO && technique <= WEFT_C_ROC_E ? names[technique] : "unknown";
}

extern "C" int weft_unit_migrate(weft_unit* handle, weft_pool* pool) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  unit_of(handle)->pool.store(api::pool_of(pool), std::memory_order_release);
  return WEFT_OK;
}

// ---------------------------------------------------------------- waiting

extern "C" int weft_suspend() {
  core::Unit& unit = core::this_unit();
  if (const int error = check_waiter(); error != WEFT_OK) return error;
  if (!core::has_flag(unit, core::UnitFlag::free_standing)) return WEFT_ERR_STATE;
  core::wait_for_grant(unit);
  return WEFT_OK;
}

extern "C" int weft_resume(weft_unit* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  core::Unit& unit = *unit_of(handle);
  if (core::is_done(unit)) return WEFT_ERR_STATE;
  return core::grant(unit) ? WEFT_OK : WEFT_ERR_STATE;
}

extern "C" int weft_resume_to(weft_unit* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  if (const int error = check_waiter(); error != WEFT_OK) return error;
  core::Unit& unit = *unit_of(handle);
  if (core::is_done(unit)) return WEFT_ERR_STATE;
  return core::grant(unit, true) ? WEFT_OK : WEFT_ERR_STATE;
}

extern "C" int weft_sleep(uint64_t nanoseconds) {
  if (const int error = check_waiter(); error != WEFT_OK) return error;
  if (nanoseconds != 0 && !core::serves_deadlines()) return WEFT_ERR_LIMIT;
  core::sleep_until(core::deadline_after(nanoseconds));
  return WEFT_OK;
}
