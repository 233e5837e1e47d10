// Which structure holds what, and how a KLT sleeps in a pool until something is pushed.
//
// No wake-up is lost. Let P push, let S wait.
//   P: push;                        light fence; read waiters; if > 0: wakes += 1, futex-wake one.
//   S: waiters += 1; heavy fence;   loop: read wakes; look for a unit; if none, sleep while wakes is the same.
// Before the heavy fence P's push may sit in a store buffer; after it, either P's look at waiters comes after S's
// announcement, or P's push came before, and each later look of S finds it (as in core/idle.cpp). In the first case, if
// S's look missed the push, P adds to wakes after S has read it (had S read what P added, with acquire, it would have
// seen what P pushed), and S does not fall asleep, or is woken.
//
// "Woken" may mean: another sleeper is. Then that one looks, and it finds the unit, or somebody else has taken it. A
// push wakes one even if it brings many units, so whoever waited and got one wakes the next if there is more. Whose
// time is over at the moment in which it is woken has been woken for the kernel, and looks once more before it goes.
//
// P pays for the fence nothing, and for the look a load of a line that is written only when somebody waits. Pushes to
// pools of access priv do not even look.
//
// P looks at waiters after its push, when the unit may have run already and its pool been given back. So the memory of
// a pool is never anything else: it goes into a list, and to the next pool of that size. A P that is late looks at that
// one's waiters, and wakes somebody there for nothing.
//
// Rejected: a waker that takes S out of waiters, which would save the futex-wake of each push until S is awake. S may
// leave at any time (its time is over, it finds a unit), and would have to settle with the waker whom it was for.
#include "core/fork.h"
#include "core/pool/pool.h"

#include <cstdlib>

#include "core/pool/chain.h"
#include "core/pool/over_deque.h"
#include "core/pool/priority.h"
#include "core/pool/take_many.h"
#include "core/pool/two_lists.h"
#include "core/preempt.h"
#include "core/runtime.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/futex.h"

namespace weft::core {
namespace {

std::atomic<bool> custom_pools_held{false};

constexpr std::size_t largest_pool = 16 * base::cache_line;  // with the store

constinit thread_local bool called_without_worker = false;

// The functions of a pool of the program's are called by whoever puts a unit there or looks for one: by a unit, or by a
// scheduler, and then they are a part of that, and can wait no more than it can. Nor can they where the unit does not
// run, such as one that another has been called by, at the end of that. Or by a KLT that has no worker: it resumes
// units whose time is over, say, and would become a root for ever if they asked for its worker.
class AsSchedulerCode {
 public:
  AsSchedulerCode() : worker_(this_worker()), lacks_worker_(worker_ == nullptr && !called_without_worker) {
    if (lacks_worker_) called_without_worker = true;
    if (worker_ != nullptr) current_ = worker_->current;
    if (worker_ == nullptr || is_running(current_)) {
      worker_ = nullptr;
      return;
    }
    worker_->scheduler_code.technique = Technique::stackless;
    worker_->current = &worker_->scheduler_code;
  }
  ~AsSchedulerCode() {
    if (lacks_worker_) called_without_worker = false;
    if (worker_ == nullptr) return;
    if (this_worker() != worker_) end_forked();
    worker_->current = current_;
  }
  AsSchedulerCode(const AsSchedulerCode&) = delete;
  AsSchedulerCode& operator=(const AsSchedulerCode&) = delete;

 private:
  static bool is_running(const Unit* unit) {
    return unit != nullptr && unit->state.load(std::memory_order_relaxed) == UnitState::running;
  }

  Worker* worker_;
  Unit* current_ = nullptr;
  bool lacks_worker_;  // and the one around this, if there is one, does not say so
};

class Custom {
 public:
  Custom(const PoolFunctions& functions, void* data) : functions_(functions), data_(data) {}
  Custom(const Custom&) = delete;
  Custom& operator=(const Custom&) = delete;
  ~Custom() {
    if (functions_.free != nullptr) functions_.free(data_);
  }
  void push(Unit* unit) {
    const AsSchedulerCode here;
    functions_.push(data_, unit);
  }
  void push_many(Unit* first, Unit* last, std::size_t) {
    for_each_in_chain(first, last, [this](Unit* unit) { push(unit); });
  }
  Unit* pop() {
    const AsSchedulerCode here;
    return functions_.pop(data_);
  }
  std::size_t size() const {
    const AsSchedulerCode here;
    return functions_.size(data_);
  }

 private:
  PoolFunctions functions_;
  void* data_;
};

}  // namespace

// ---------------------------------------------------------------- the tables

/// The functions of the table for one kind of store. Stores need not have push_behind(), steal() and pop_many().
template <class Store, Access allowed>
struct Pool::Through {
  static void push(Pool& pool, Unit* unit) {
    pool.store<Store>().push(unit);
    announce(pool);
  }

  static void push_many(Pool& pool, Unit* first, Unit* last, std::size_t count) {
    if (count == 0) return;
    pool.store<Store>().push_many(first, last, count);
    announce(pool);
  }

  static void push_behind(Pool& pool, Unit* unit) {
    if constexpr (requires(Store & store) { store.push_behind(unit); })
      pool.store<Store>().push_behind(unit);
    else
      pool.store<Store>().push(unit);
    announce(pool);
  }

  static Unit* pop(Pool& pool) { return pool.store<Store>().pop(); }

  static Unit* steal(Pool& pool) {
    if constexpr (requires(Store & store) { store.steal(); })
      return pool.store<Store>().steal();
    else
      return pool.store<Store>().pop();
  }

  static unsigned pop_many(Pool& pool, Unit** units, unsigned most) {
    Store& store = pool.store<Store>();
    if constexpr (requires { store.pop_many(units, most); }) {
      return store.pop_many(units, most);
    } else {
      return take_many(units, most, [&store] { return store.pop(); });
    }
  }

  static std::size_t size(const Pool& pool) { return pool.store<Store>().size(); }
  static void end(Pool& pool) { pool.store<Store>().~Store(); }

  static void announce(Pool& pool) {
    if constexpr (allowed != Access::priv) pool.announce();
  }

  static void mark_and_push(Pool& pool, Unit* unit) {
    mark(*unit, pool.preemption_);
    push(pool, unit);
  }

  static void mark_and_push_many(Pool& pool, Unit* first, Unit* last, std::size_t count) {
    Unit* unit = first;
    for (std::size_t left = count; left != 0; --left) {
      mark(*unit, pool.preemption_);
      if (left != 1) unit = unit->next;
    }
    push_many(pool, first, last, count);
  }

  // What gives way has been put there before.
  static constexpr Operations marking{mark_and_push, mark_and_push_many, push_behind, pop, steal, pop_many, size, end,
                                      nullptr};
  static constexpr Operations operations{push, push_many, push_behind, pop, steal, pop_many, size, end, &marking};
};

namespace {

// The same function, under HeldOff.
template <auto function>
struct UnderHeldOff;
template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct UnderHeldOff<function> {
  static Result call(Arguments... arguments) {
    const HeldOff held;
    return function(arguments...);
  }
};
template <auto function>
constexpr auto held = &UnderHeldOff<function>::call;

}  // namespace

/// A pool of the user's own: its functions are called in the midst of something.
template <Access allowed>
struct Pool::Held {
  using Plain = Through<Custom, allowed>;
  static constexpr Operations of(void (*push)(Pool&, Unit*), void (*push_many)(Pool&, Unit*, Unit*, std::size_t),
                                 const Operations* marking) {
    return {push,
            push_many,
            held<&Plain::push>,
            held<&Plain::pop>,
            held<&Plain::pop>,
            held<&Plain::pop_many>,
            held<&Plain::size>,
            Plain::end,
            marking};
  }
  static constexpr Operations marking = of(held<&Plain::mark_and_push>, held<&Plain::mark_and_push_many>, nullptr);
  static constexpr Operations operations = of(held<&Plain::push>, held<&Plain::push_many>, &marking);
};

template <class Store, Access allowed, class... Arguments>
Pool* Pool::make(Kind kind, const Arguments&... arguments) {
  static_assert(alignof(Store) <= base::cache_line);
  constexpr std::size_t size = sizeof(Pool) + base::round_up(sizeof(Store), base::cache_line);
  static_assert(size <= largest_pool);
  Pool* pool = take_memory(size);
  if (pool == nullptr) return nullptr;
  pool->kind_ = kind;
  pool->access_ = allowed;
  pool->preemption_ = Preemption::by_default;
  pool->operations_ = &Through<Store, allowed>::operations;
  new (pool->place()) Store(arguments...);
  return pool;
}

Pool* Pool::create_fifo(Access access) {
  switch (access) {
    case Access::priv:
      return make<PrivateFifo, Access::priv>(Kind::private_fifo);
    case Access::spsc:
      return make<FifoFromOne<NoLock>, Access::spsc>(Kind::other);
    case Access::mpsc:
      return make<TwoLists<NoLock>, Access::mpsc>(Kind::other);
    case Access::spmc:
      return make<FifoFromOne<Spinlock>, Access::spmc>(Kind::other);
    case Access::mpmc:
      return make<TwoLists<Spinlock>, Access::mpmc>(Kind::other);
  }
  return nullptr;
}

Pool* Pool::create_lifo(Access access) {
  using SharedLifo = List<Order::lifo, Spinlock>;
  switch (access) {
    case Access::priv:
      return make<PrivateLifo, Access::priv>(Kind::private_lifo);
    case Access::spsc:
      return make<SharedLifo, Access::spsc>(Kind::other);
    case Access::mpsc:
      return make<SharedLifo, Access::mpsc>(Kind::other);
    case Access::spmc:
      return make<SharedLifo, Access::spmc>(Kind::other);
    case Access::mpmc:
      return make<SharedLifo, Access::mpmc>(Kind::other);
  }
  return nullptr;
}

Pool* Pool::create_priority(Access access) {
  using SharedTree = ByPriority<Spinlock>;
  switch (access) {
    case Access::priv:
      return make<ByPriority<NoLock>, Access::priv>(Kind::other);
    case Access::spsc:
      return make<SharedTree, Access::spsc>(Kind::other);
    case Access::mpsc:
      return make<SharedTree, Access::mpsc>(Kind::other);
    case Access::spmc:
      return make<SharedTree, Access::spmc>(Kind::other);
    case Access::mpmc:
      return make<SharedTree, Access::mpmc>(Kind::other);
  }
  return nullptr;
}

Pool* Pool::create_deque(Access access) {
  switch (access) {
    case Access::priv:
      return make<PrivateDeque, Access::priv>(Kind::deque);
    case Access::spmc:
      return make<OwnedDeque, Access::spmc>(Kind::deque);
    case Access::mpmc:
      return make<SharedDeque, Access::mpmc>(Kind::deque);
    case Access::spsc:
    case Access::mpsc:
      break;
  }
  return nullptr;
}

bool Pool::valid(Order order, Access access) {
  if (order > Order::deque || access > Access::mpmc) return false;
  return order != Order::deque || (access != Access::spsc && access != Access::mpsc);
}

Pool* Pool::create_store(Order order, Access access) {
  switch (order) {
    case Order::fifo:
      return create_fifo(access);
    case Order::lifo:
      return create_lifo(access);
    case Order::priority:
      return create_priority(access);
    case Order::deque:
      return create_deque(access);
  }
  return nullptr;
}

Pool* Pool::create(Order order, Access access) {
  Pool* pool = create_store(order, access);
  if (pool == nullptr) return nullptr;
  pool->order_ = order;
  pool->custom_ = false;
  pool->lives_.store(true, std::memory_order_release);
  return pool;
}

Pool* Pool::create_custom(const PoolFunctions& functions, void* data) {
  Pool* pool = make<Custom, Access::mpmc>(Kind::other, functions, data);
  if (pool == nullptr) return nullptr;
  pool->custom_ = true;
  custom_made.store(true, std::memory_order_relaxed);
  pool->lives_.store(true, std::memory_order_seq_cst);
  if (custom_pools_held.load(std::memory_order_seq_cst)) pool->operations_ = &Held<Access::mpmc>::operations;
  return pool;
}

// Whoever makes a pool at this moment sees this, or is seen here. Calls that are under way were begun by units that are
// not preemptive: there have been no others.
void Pool::hold_off_custom() {
  custom_pools_held.store(true, std::memory_order_seq_cst);
  for_each([](const Pool& pool) {
    if (pool.custom_ && pool.preemption_ == Preemption::by_default)
      const_cast<Pool&>(pool).operations_ = &Held<Access::mpmc>::operations;
  });
}

bool Pool::custom_is_called_without_worker() { return called_without_worker; }

void Pool::set_preemption(Preemption kind) {
  preemption_ = kind;
  if (kind == Preemption::by_default || operations_->marking == nullptr) return;
  if (custom_) hold_off_custom();
  // (Bug: of the program's first pool with a kind the functions were not held off.)
  operations_ = custom_ ? &Held<Access::mpmc>::marking : operations_->marking;
  // Nothing is in it yet, and from now on it is used through the table alone.
  if (is_private_list()) kind_ = Kind::other;
}

void Pool::hand_in(Unit* first, Unit* last, std::size_t count) {
  if (!has_one_owner()) return push_many(first, last, count);
  for_each_in_chain(first, last, [this](Unit* unit) {
    mark(*unit, preemption_);
    push_behind(unit);
  });
}

void Pool::take_in_returned() {
  if (access_ != Access::priv) return;
  while (Unit* unit = returned_.pop()) push(unit);
}

// ---------------------------------------------------------------- memory

namespace {

Spinlock free_lock;
Pool* free_pools[largest_pool / base::cache_line + 1];  // by size; each holds the next in place of its store

}  // namespace

base::KeptArray<Pool*> Pool::every_pool;
std::atomic<unsigned> Pool::pools_made{0};
std::atomic<unsigned> Pool::lookers{0};
std::atomic<bool> Pool::custom_made{false};

Pool* Pool::take_memory(std::size_t size) {
  {
    SpinGuard guard(free_lock);
    Pool*& list = free_pools[size / base::cache_line];
    if (Pool* pool = list; pool != nullptr) {
      list = *static_cast<Pool**>(pool->place());
      return pool;
    }
  }
  void* memory = std::aligned_alloc(base::cache_line, size);
  if (memory == nullptr) return nullptr;
  auto pool = new (memory) Pool;
  pool->lines_ = static_cast<std::uint16_t>(size / base::cache_line);
  SpinGuard guard(free_lock);
  const unsigned index = pools_made.load(std::memory_order_relaxed);
  if (!every_pool.reserve(index + 1)) {
    std::free(memory);
    return nullptr;
  }
  every_pool.items()[index].store(pool, std::memory_order_relaxed);
  pools_made.store(index + 1, std::memory_order_release);
  return pool;
}

void Pool::destroy() {
  lives_.store(false, std::memory_order_seq_cst);
  while (lookers.load(std::memory_order_seq_cst) != 0) os::give_up_cpu();
  operations_->end(*this);
  SpinGuard guard(free_lock);
  Pool*& list = free_pools[lines_];
  new (place()) Pool*(list);
  list = this;
}

void reset_shared_pools() {
  free_lock.unlock();
  Pool::lookers.store(0, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- sleeping

void Pool::wake_one() {
  wakes_.fetch_add(1, std::memory_order_release);
  os::futex_wake(wakes_, 1);
}

Unit* Pool::pop_wait(std::uint64_t nanoseconds, bool* timed_out) {
  Unit* unit = steal();
  if (unit == nullptr) unit = wait(nanoseconds);
  if (timed_out != nullptr) *timed_out = unit == nullptr;
  return unit;
}

Unit* Pool::wait(std::uint64_t nanoseconds) {
  const std::uint64_t began = os::now_ns();
  waiters_.fetch_add(1, std::memory_order_relaxed);
  os::heavy_fence();
  Unit* unit;
  for (;;) {
    const std::uint32_t wakes = wakes_.load(std::memory_order_acquire);
    unit = steal();
    if (unit != nullptr) break;
    const std::uint64_t passed = os::now_ns() - began;
    if (passed >= nanoseconds) break;
    os::futex_wait_for(wakes_, wakes, nanoseconds - passed);
  }
  const bool others_wait = waiters_.fetch_sub(1, std::memory_order_relaxed) > 1;
  if (unit != nullptr && others_wait && !looks_empty()) wake_one();
  return unit;
}

}  // namespace weft::core
