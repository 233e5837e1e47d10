// Creating units: the C API. Attributes are looked at here; what comes of them is the core's.
//
// Three ways lead to a unit, and each does what the one before it cannot: with what the last one was asked for with
// (weft_unit_create itself; a child-first one: spawn_or_create), with attributes that most ask for (create_simply), and
// with any (create_slowly).
#include "api/convert.h"
#include "api/preempt.h"
#include "core/create.h"
#include "core/idle.h"
#include "core/scheduler.h"
#include "core/technique/start.h"
#include "core/unit_cache.h"
#include "os/barrier.h"

using namespace weft;
using api::handle_of;

namespace {

constexpr std::size_t smallest_own_stack = 4096;

static_assert(static_cast<int>(core::Technique::c_roc_e) == WEFT_C_ROC_E);
static_assert(static_cast<int>(core::Technique::sc) == WEFT_SC);

bool needs_stateless_scheduler(weft_technique technique) {
  return technique == WEFT_SS || technique == WEFT_SS_L || technique == WEFT_SC;
}

bool would_be_stateful(const core::Worker& caller, const weft_worker* chosen) {
  if (chosen != nullptr) return core::has_stateful_scheduler(*api::worker_of(chosen));
  return caller.scheduler() != nullptr && !caller.scheduler()->stateless();
}

// The unit goes to a worker of the caller's choice.
int choose_worker(const core::Worker& caller, const weft_unit_attr& attr, core::Wish& wish) {
  if (attr.pool != nullptr || core::is_child_first(static_cast<core::Technique>(attr.technique)))
    return WEFT_ERR_ARGUMENT;
  core::Worker& chosen = *api::worker_of(attr.worker);
  if (chosen.use.load(std::memory_order_relaxed) == core::WorkerUse::none) return WEFT_ERR_STATE;
  wish.pool = core::first_pool_of(chosen);
  if (wish.pool != nullptr && &chosen == &caller) return WEFT_OK;
  wish.worker = &chosen;
  const bool is_private = wish.pool != nullptr && wish.pool->access() == core::Access::priv;
  return is_private ? WEFT_ERR_ACCESS : WEFT_OK;
}

[[gnu::noinline]] int read_preemption(const weft_unit_attr& attr, core::Wish& wish) {
  if (static_cast<unsigned>(attr.preemption) > WEFT_PREEMPT_NONE) return WEFT_ERR_ARGUMENT;
  if (api::asks_to_be_preempted(attr.preemption)) {
    if (attr.technique == WEFT_STACKLESS) return WEFT_ERR_STACKLESS;
    if (attr.stack_size != 0 && attr.stack_size < core::smallest_preemptive_stack) return WEFT_ERR_ARGUMENT;
  }
  wish.flags |= api::preemption_flags(attr.preemption, wish.pool);
  return WEFT_OK;
}

// What only few attributes ask for; an error if they contradict each other.
int read_rare_attributes(const core::Worker& worker, const weft_unit_attr& attr, core::Wish& wish) {
  if (attr.technique < WEFT_AUTO || attr.technique > WEFT_C_ROC_E) return WEFT_ERR_ARGUMENT;
  if ((attr.flags & ~static_cast<unsigned>(WEFT_OWN_TLS | WEFT_MAY_BLOCK)) != 0) return WEFT_ERR_ARGUMENT;
  if (attr.technique == WEFT_STACKLESS && (attr.flags & WEFT_MAY_BLOCK) != 0) return WEFT_ERR_STACKLESS;
  // They run on the stacks of schedulers, which are all of one size.
  if (attr.technique == WEFT_SC && (attr.stack_size != 0 || attr.stack != nullptr)) return WEFT_ERR_ARGUMENT;
  if (needs_stateless_scheduler(attr.technique) && would_be_stateful(worker, attr.worker)) return WEFT_ERR_SCHEDULER;
  if (attr.worker != nullptr)
    if (const int error = choose_worker(worker, attr, wish); error != WEFT_OK) return error;
  if (attr.preemption != WEFT_PREEMPT_DEFAULT) [[unlikely]]
    if (const int error = read_preemption(attr, wish); error != WEFT_OK) return error;
  if ((attr.flags & WEFT_OWN_TLS) != 0) wish.flags |= core::UnitFlag::wants_identity;
  if (attr.stack != nullptr) {
    if (attr.stack_size < smallest_own_stack) return WEFT_ERR_ARGUMENT;
    wish.flags |= core::UnitFlag::own_memory;
    if (attr.stack_size < core::smallest_preemptive_stack) {
      wish.flags |= core::UnitFlag::never_preempted;
      core::spare_small_stacks();
    }
  }
  wish.needs_fitting = true;
  wish.stack = attr.stack;
  wish.stack_size = attr.stack_size;
  wish.priority = attr.priority;
  wish.name = attr.name;
  return WEFT_OK;
}

// Techniques that any scheduler may start.
constexpr unsigned bit(weft_technique technique) { return 1U << technique; }
constexpr unsigned simple_techniques = bit(WEFT_AUTO) | bit(WEFT_STACKLESS) | bit(WEFT_FULL) | bit(WEFT_FULL_L) |
                                       bit(WEFT_ROC) | bit(WEFT_ROC_L) | bit(WEFT_C_FULL) | bit(WEFT_C_FULL_E) |
                                       bit(WEFT_C_ROC) | bit(WEFT_C_ROC_E);

// Nothing but technique, pool and size of the stack.
inline bool asks_for_little(const weft_unit_attr& attr) {
  const std::uintptr_t rare = reinterpret_cast<std::uintptr_t>(attr.stack) |
                              reinterpret_cast<std::uintptr_t>(attr.worker) |
                              reinterpret_cast<std::uintptr_t>(attr.name) | attr.flags |
                              static_cast<unsigned>(attr.priority) | static_cast<unsigned>(attr.preemption);
  return rare == 0 && static_cast<unsigned>(attr.technique) <= WEFT_C_ROC_E;
}

inline bool is_simple(const weft_unit_attr& attr) {
  return asks_for_little(attr) && (simple_techniques >> attr.technique & 1U) != 0;
}

// A unit without a pool runs where there is room, and a child-first one begins where its creator is: whose scheduler
// that is says nothing about their children. (Bug: they went into a pool that its owner freed, who knew of none.)
core::Pool* pool_for(const core::Worker& worker, weft_pool* wanted) {
  if (wanted != nullptr) return api::pool_of(wanted);
  const core::Scheduler* scheduler = worker.scheduler();
  if (scheduler == nullptr || scheduler->pool_count() == 0) return nullptr;
  const core::Unit* creator = worker.current;
  if (creator == nullptr || core::is_root(*creator)) return scheduler->pool(0);
  const core::Pool* home = creator->pool.load(std::memory_order_relaxed);
  return home != nullptr && scheduler->is_given(*home) ? scheduler->pool(0) : nullptr;
}

// What the attributes ask for.
int read_attributes(const core::Worker& worker, const weft_unit_attr* attr, bool detached, core::Wish& wish) {
  if (detached) wish.flags |= core::UnitFlag::detached;
  wish.pool = pool_for(worker, attr != nullptr ? attr->pool : nullptr);
  if (attr != nullptr) {
    if (!is_simple(*attr))
      if (const int error = read_rare_attributes(worker, *attr, wish); error != WEFT_OK) return error;
    if (attr->stack_size > core::largest_stack) return WEFT_ERR_ARGUMENT;
    wish.technique = static_cast<core::Technique>(attr->technique);
    wish.stack_class = core::stack_class_of(attr->stack_size);
  }
  if (core::preemption_settings.kind != core::Preemption::none) [[unlikely]]
    if ((attr == nullptr || attr->preemption == WEFT_PREEMPT_DEFAULT) &&
        (wish.flags & core::UnitFlag::never_preempted) == 0)
      wish.flags |= api::preemption_flags(WEFT_PREEMPT_DEFAULT, wish.pool);
  if (wish.technique == core::Technique::automatic) wish.flags |= core::UnitFlag::chosen;
  if (core::is_child_first(wish.technique) || core::binds_at_creation(wish.technique)) wish.needs_fitting = true;
  return WEFT_OK;
}

[[gnu::noinline]] int launch_and_succeed(core::Worker& worker, core::Unit& unit) {
  if (core::is_child_first(unit.technique))
    core::run_child_first(worker, unit);
  else
    core::launch(worker, unit);
  return WEFT_OK;
}

// Its stack, at once. False: there is no memory, and the unit is given back.
[[gnu::always_inline]] inline bool bind_or_discard(core::Worker& worker, core::Unit& made, std::uint8_t stack_class) {
  made.stack = core::take_stack_if_there_is(worker, stack_class);
  if (made.stack != nullptr) [[likely]]
    return true;
  core::discard_unit(worker, made);
  return false;
}

// To a worker of the caller's choice. (Bug: into a pool of one producer, as if the caller were that.)
void launch_there(const core::Wish& wish, core::Unit* first, core::Unit* last, std::size_t count) {
  if (wish.pool != nullptr)
    core::launch_into(*wish.pool, first, last, count);
  else
    core::launch_at(*wish.worker, first);
}

// A child-first unit starts at once: so want of memory for its stack can be told.
inline int spawn(core::Worker& worker, core::Unit& made, weft_unit** unit) {
  if (!bind_or_discard(worker, made, made.stack_class)) return WEFT_ERR_MEMORY;
  *unit = handle_of(&made);
  core::run_child_first(worker, made);
  return WEFT_OK;
}

[[gnu::noinline]] int notify_and_succeed() {
  core::notify_slow(nullptr);
  return WEFT_OK;
}

[[gnu::noinline]] int create_slowly(void (*entry)(void*), void* argument, const weft_unit_attr* attr,
                                    weft_unit** unit) {
  if (entry == nullptr) return WEFT_ERR_ARGUMENT;
  core::Worker& worker = core::worker_here();
  core::Wish wish;
  if (const int error = read_attributes(worker, attr, unit == nullptr, wish); error != WEFT_OK) return error;
  core::Unit* made = core::make_unit(worker, entry, argument, wish);
  if (made == nullptr) return WEFT_ERR_MEMORY;
  if (unit != nullptr) *unit = handle_of(made);
  if (wish.worker == nullptr) return launch_and_succeed(worker, *made);
  made->next = nullptr;
  launch_there(wish, made, made, 1);
  return WEFT_OK;
}

static_assert(sizeof(weft_unit_attr) == core::Usual::size);

[[gnu::always_inline]] inline int push_newest(core::Worker& worker, core::Unit& made) {
  if (!worker.deque.push_if_room(&made)) [[unlikely]]
    return launch_and_succeed(worker, made);
  os::light_fence();
  return core::runtime.sleepers.load(std::memory_order_relaxed) > 0 ? notify_and_succeed() : WEFT_OK;
}

[[gnu::always_inline]] inline int push(core::Worker& worker, core::Unit& made, core::Pool* pool) {
  if (pool == nullptr) return push_newest(worker, made);
  return pool->push_quickly(&made) ? WEFT_OK : launch_and_succeed(worker, made);
}

// Whether create_simply() can do it.
inline bool is_simple_here(const core::Worker& worker, const weft_unit_attr& attr) {
  if (!asks_for_little(attr) || attr.stack_size > core::largest_stack) return false;
  if ((simple_techniques >> attr.technique & 1U) != 0) return true;
  return needs_stateless_scheduler(attr.technique) && !would_be_stateful(worker, nullptr) &&
         (attr.technique != WEFT_SC || attr.stack_size == 0);
}

// What most ask for, as create_slowly() does it, but not with what the last unit was asked for with.
[[gnu::noinline]] int create_simply(void (*entry)(void*), void* argument, const weft_unit_attr* attr,
                                    weft_unit** unit) {
  core::Worker* worker = core::this_worker();
  if (entry == nullptr || worker == nullptr || attr == nullptr || unit == nullptr || !is_simple_here(*worker, *attr) ||
      worker->units.empty()) [[unlikely]]
    return create_slowly(entry, argument, attr, unit);
  const auto technique = static_cast<core::Technique>(attr->technique);
  const unsigned chosen = technique == core::Technique::automatic ? unsigned{core::UnitFlag::chosen} : 0U;
  const core::UnitStart start{core::UnitState::created,
                              technique,
                              core::stack_class_of(attr->stack_size),
                              false,
                              static_cast<std::uint16_t>(core::UnitFlag::free_standing | chosen),
                              static_cast<std::uint16_t>(worker->index)};
  core::Pool* pool = pool_for(*worker, attr->pool);
  core::Unit* made = worker->units.take_present();
  core::set_up(*made, entry, argument, start, pool);
  if (core::is_child_first(technique)) {
    worker->usual_child.set(attr, start);
    return spawn(*worker, *made, unit);
  }
  const bool binds = core::binds_at_creation(technique);
  if (binds && !bind_or_discard(*worker, *made, start.stack_class)) return WEFT_ERR_MEMORY;
  if ((simple_techniques >> attr->technique & 1U) != 0) {
    worker->usual.set(attr, start);
    worker->usual_binds = binds;
  }
  *unit = handle_of(made);
  if (pool == nullptr && worker->scheduler() != nullptr) [[unlikely]]  // which has none
    return launch_and_succeed(*worker, *made);
  return push(*worker, *made, pool);
}

// What weft_unit_create() has made, and which has its stack at once.
[[gnu::noinline]] int bind_and_push_slowly(core::Worker& worker, core::Unit& made, core::Pool* pool, weft_unit** unit) {
  if (!bind_or_discard(worker, made, made.stack_class)) return WEFT_ERR_MEMORY;
  *unit = handle_of(&made);
  return push(worker, made, pool);
}

[[gnu::noinline]] int bind_and_push(core::Worker& worker, core::Unit& made, core::Pool* pool, weft_unit** unit) {
  made.stack = core::take_stack_at_hand(worker, made.stack_class);
  if (made.stack == nullptr) [[unlikely]]
    return bind_and_push_slowly(worker, made, pool, unit);
  *unit = handle_of(&made);
  return push(worker, made, pool);
}

// weft_unit_create() for a child-first unit.
[[gnu::noinline]] int spawn_or_create(void (*entry)(void*), void* argument, const weft_unit_attr* attr,
                                      weft_unit** unit) {
  if (attr == nullptr || attr->technique < WEFT_C_FULL) return create_simply(entry, argument, attr, unit);
  core::Worker* worker = core::this_worker();
  if (entry == nullptr || worker == nullptr || unit == nullptr || !worker->usual_child.is(attr) ||
      worker->units.empty()) [[unlikely]]
    return create_simply(entry, argument, attr, unit);
  core::Unit* made = worker->units.take_present();
  core::set_up(*made, entry, argument, worker->usual_child.start(), pool_for(*worker, attr->pool));
  return spawn(*worker, *made, unit);
}

// Where the last one was asked for with the same, and there is a descriptor.
[[gnu::always_inline]] inline int create_like_last(core::Worker& worker, void (*entry)(void*), void* argument,
                                                   core::Pool* pool, weft_unit** unit) {
  core::Unit* made = worker.units.take_present();
  core::set_up(*made, entry, argument, worker.usual.start(), pool);
  if (worker.usual_binds) return bind_and_push(worker, *made, pool, unit);
  *unit = handle_of(made);
  return push(worker, *made, pool);
}

}  // namespace

// Every call in it is the last thing, so that no register is saved; and each way is written out, so that nothing is
// asked twice.
extern "C" int weft_unit_create(void (*entry)(void*), void* argument, const weft_unit_attr* attr, weft_unit** unit) {
  core::Worker* worker = core::this_worker();
  if (entry == nullptr || worker == nullptr || attr == nullptr || unit == nullptr || !worker->usual.is(attr) ||
      worker->units.empty()) [[unlikely]]
    return spawn_or_create(entry, argument, attr, unit);
  if (core::Pool* pool = api::pool_of(attr->pool); pool != nullptr)
    return create_like_last(*worker, entry, argument, pool, unit);
  if (worker->scheduler() != nullptr) return create_simply(entry, argument, attr, unit);
  return create_like_last(*worker, entry, argument, nullptr, unit);
}

namespace {

[[gnu::noinline]] void discard_chain(core::Worker& worker, core::Unit* first) {
  while (first != nullptr) {
    core::Unit* next = first->next;
    core::discard_unit(worker, *first);
    first = next;
  }
}

struct Many {
  std::size_t count;
  void (*entry)(void*);
  void* const* arguments;  // nullptr: none
  weft_unit** units;       // nullptr: nobody wants them
  core::UnitStart start;
  core::Unit* waiters;

  void* argument(std::size_t index) const { return arguments != nullptr ? arguments[index] : nullptr; }
};

// Makes them where they shall be, which nobody sees before all are there. False: nothing has happened, for it takes
// more than that.
template <class Store>
bool create_in_place(core::Worker& worker, const Many& many, core::Pool* pool, Store& store) {
  if (!store.reserve(many.count)) return false;
  core::Unit* const* made = worker.units.take_present(many.count);
  if (made == nullptr) return false;
  const Many all = many;
  for (std::size_t index = 0; index < all.count; ++index) {
    core::Unit* unit = made[all.count - 1 - index];
    core::set_up(*unit, all.entry, all.argument(index), all.start, pool, all.waiters);
    store.prepare(index, unit);
    if (all.units != nullptr) all.units[index] = handle_of(unit);
  }
  store.push_prepared(all.count);
  return true;
}

bool create_quickly(core::Worker& worker, const Many& many, const core::Wish& wish) {
  if (wish.needs_fitting || wish.worker != nullptr) return false;
  if (wish.pool == nullptr) {
    if (worker.scheduler() != nullptr) return false;
    if (!create_in_place(worker, many, nullptr, worker.deque)) return false;
    core::notify();
    return true;
  }
  if (auto fifo = wish.pool->fifo_ring(); fifo != nullptr) return create_in_place(worker, many, wish.pool, *fifo);
  if (auto lifo = wish.pool->lifo_ring(); lifo != nullptr) return create_in_place(worker, many, wish.pool, *lifo);
  return false;
}

int create_one_by_one(core::Worker& worker, const Many& many, const core::Wish& wish) {
  core::Unit* first = nullptr;
  core::Unit** link = &first;
  core::Unit* last = nullptr;
  for (std::size_t index = 0; index < many.count; ++index) {
    core::Unit* made = core::make_unit(worker, many.entry, many.argument(index), wish);
    if (made == nullptr) [[unlikely]] {
      *link = nullptr;
      discard_chain(worker, first);
      return WEFT_ERR_MEMORY;
    }
    *link = made;
    link = &made->next;
    last = made;
  }
  last->next = nullptr;
  if (many.units != nullptr) {
    std::size_t index = 0;
    for (core::Unit* unit = first; unit != nullptr; unit = unit->next) many.units[index++] = handle_of(unit);
  }
  if (wish.worker != nullptr)
    launch_there(wish, first, last, many.count);
  else
    core::launch_all(worker, first, last, many.count);
  return WEFT_OK;
}

}  // namespace

extern "C" int weft_unit_create_many(size_t count, void (*entry)(void*), void* const* arguments,
                                     const weft_unit_attr* attr, weft_unit** units) {
  if (entry == nullptr || (attr != nullptr && (core::is_child_first(static_cast<core::Technique>(attr->technique)) ||
                                               attr->stack != nullptr)))
    return WEFT_ERR_ARGUMENT;
  if (count == 0) return WEFT_OK;
  if (count > UINT32_MAX) return WEFT_ERR_MEMORY;
  // (Bug: those that were refused had taken all memory there was, for good, and then there was none for a stack.)
  constexpr size_t few = 1U << 16U;
  if (count > few && !core::may_have_memory_for_units(count)) return WEFT_ERR_MEMORY;
  core::Worker& worker = core::worker_here();
  core::Wish wish;
  if (const int error = read_attributes(worker, attr, units == nullptr, wish); error != WEFT_OK) return error;
  const Many many{
      count, entry, arguments, units, core::start_of_wish(worker, wish), core::waiters_at_first(wish.flags)};
  return create_quickly(worker, many, wish) ? WEFT_OK : create_one_by_one(worker, many, wish);
}
