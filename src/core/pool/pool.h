// Pools: where units are that are ready to run. Which structure holds them follows from order and access; the owner of
// a pool, the producers and the consumers keep to what they promised at its creation.
//
//                 priv          spsc          mpsc          spmc          mpmc
//   fifo          ring          deque, list   two lists     deque, list   two lists
//   lifo          ring          list+lock     list+lock     list+lock     list+lock
//   priority      tree          tree+lock     tree+lock     tree+lock     tree+lock
//   deque         deque, list   -             -             deque, list   deque+lock, list
//
// A unit that has waited may be made ready by anybody (put_back), also where the pool has one producer. What has a lock
// stands that. Beside a deque whose owner alone may push there is a list for it (over_deque.h). A pool of access priv
// has one that others may push into (returned_), and its worker takes over what is there (take_in_returned).
//
// A unit that gives way, because it yields or its slice is over, goes behind all others of the pool (push_behind), in
// whichever order that gives them: it waits for what one of them may have to do. By priority, behind its equals. One
// that has become ready comes as the order says: what was last at work has its data at hand.
//
// A pool of access priv takes no locked instruction at all. Private lists (rings) are inlined: a caller that knows what
// it has pays a compare and the ring. Everything else goes through a table of functions, as pools of the user's own do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/kept_array.h"
#include "base/layout.h"
#include "base/relaxed.h"
#include "core/pool/list.h"
#include "core/pool/order.h"
#include "core/pool/ring.h"
#include "core/unit.h"
#include "os/barrier.h"

namespace weft::core {

struct Worker;
enum class Preemption : std::uint8_t;

/// A pool of the user's own. pop returns nullptr if there is nothing; free may be nullptr.
struct PoolFunctions {
  void (*push)(void* data, Unit* unit);
  Unit* (*pop)(void* data);
  std::size_t (*size)(void* data);
  void (*free)(void* data);
};

class alignas(base::cache_line) Pool final {
 public:
  /// Whether there are such pools.
  static bool valid(Order order, Access access);
  /// nullptr: no memory, or not valid.
  [[nodiscard]] static Pool* create(Order order, Access access);
  /// nullptr: no memory; then `free` is not called.
  [[nodiscard]] static Pool* create_custom(const PoolFunctions& functions, void* data);
  /// What is still in it is forgotten. Nobody may wait in it. Whoever pushed into it may still be in push(): what
  /// that looks at last (waiters_) stays readable for ever, and no other kind of memory.
  void destroy();

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Producers only. The unit is ready, and in no pool.
  void push(Unit* unit) {
    const Kind kind = kind_;
    if (kind == Kind::private_fifo) return store<PrivateFifo>().push(unit);
    if (kind == Kind::private_lifo) return store<PrivateLifo>().push(unit);
    operations_->push(*this, unit);
  }

  /// push() where it is a matter of a few instructions: a private list with room. False: nothing has happened.
  bool push_quickly(Unit* unit) {
    const Kind kind = kind_;
    if (kind == Kind::private_fifo) return store<PrivateFifo>().push_if_room(unit);
    return kind == Kind::private_lifo && store<PrivateLifo>().push_if_room(unit);
  }

  /// By anybody, who need not be a producer; of a pool of access priv its worker only. The unit gives way.
  void push_behind(Unit* unit) {
    const Kind kind = kind_;
    if (kind == Kind::private_fifo) return store<PrivateFifo>().push(unit);
    if (kind == Kind::private_lifo) return store<PrivateLifo>().push_behind(unit);
    operations_->push_behind(*this, unit);
  }

  /// push_behind() as push_quickly().
  bool push_behind_quickly(Unit* unit) {
    const Kind kind = kind_;
    if (kind == Kind::private_fifo) return store<PrivateFifo>().push_if_room(unit);
    return kind == Kind::private_lifo && store<PrivateLifo>().push_behind_if_room(unit);
  }

  /// By anybody, who need not be a producer: a unit that has been in this pool and comes back.
  void put_back(Unit* unit) {
    if (access_ != Access::priv) return has_one_owner() ? push_behind(unit) : push(unit);
    returned_.push(unit);
    announce();
  }

  /// Pushes the chain first..last of `count` units, linked by Unit::next, one after the other.
  void push_many(Unit* first, Unit* last, std::size_t count) { operations_->push_many(*this, first, last, count); }

  /// The same by anybody, who need not be a producer, as put_back() is; of a pool of access priv its worker only.
  void hand_in(Unit* first, Unit* last, std::size_t count);

  /// Consumers only; nullptr: there was a moment at which it was empty. Of a deque its owner has the newest:
  /// with one producer that is the one (over_deque.h), and for all others this is steal().
  [[nodiscard]] Unit* pop() {
    if (has_returned()) [[unlikely]]
      take_in_returned();
    const Kind kind = kind_;
    if (kind == Kind::private_fifo) return store<PrivateFifo>().pop();
    if (kind == Kind::private_lifo) return store<PrivateLifo>().pop();
    return operations_->pop(*this);
  }

  /// Consumers only: what has been in a deque for longest. Of other pools the same as pop().
  [[nodiscard]] Unit* steal() {
    take_in_returned();
    return operations_->steal(*this);
  }

  /// At most so many, in the order in which pop() would have given them; how many.
  [[nodiscard]] unsigned pop_many(Unit** units, unsigned most) {
    take_in_returned();
    return operations_->pop_many(*this, units, most);
  }

  /// steal(); if there is nothing, the calling KLT sleeps until there is, or until the time is over: then nullptr, and
  /// *timed_out (which may be nullptr) is true. Not for ULTs: the worker stands still. In a pool of access priv,
  /// into which nobody else can push, the time passes.
  [[nodiscard]] Unit* pop_wait(std::uint64_t nanoseconds, bool* timed_out = nullptr);

  /// Anybody; exact when nobody else is at it.
  std::size_t size() const {
    const std::size_t returned = returned_.size();
    const Kind kind = kind_;
    if (kind == Kind::private_fifo) return returned + store<PrivateFifo>().size();
    if (kind == Kind::private_lifo) return returned + store<PrivateLifo>().size();
    return returned + operations_->size(*this);
  }
  bool looks_empty() const { return size() == 0; }

  /// Of a private pool: whether others have put something back that its worker has not taken over yet.
  bool has_returned() const { return returned_.size() != 0; }
  /// By its worker: takes it over. What has come back stands with the others then, who may never be none.
  void take_in_returned();

  /// Of a private list: what pop() would give, but for what has been returned.
  Unit* front() const {
    return kind_ == Kind::private_fifo ? store<PrivateFifo>().front() : store<PrivateLifo>().front();
  }
  /// Of a private list: takes out this unit. False: it is not there.
  bool remove(const Unit* unit) {
    return kind_ == Kind::private_fifo ? store<PrivateFifo>().remove(unit) : store<PrivateLifo>().remove(unit);
  }
  /// What holds the units of a private list of that order, for whoever goes on with it.
  template <Order order>
  Ring<order>& ring() const {
    return store<Ring<order>>();
  }
  /// Whose ring() it is.
  template <Order order>
  static const Pool& of(const Ring<order>& ring) {
    return *std::launder(reinterpret_cast<const Pool*>(&ring) - 1);
  }
  /// nullptr: it is not that.
  Ring<Order::fifo>* fifo_ring() const { return kind_ == Kind::private_fifo ? &ring<Order::fifo>() : nullptr; }
  Ring<Order::lifo>* lifo_ring() const { return kind_ == Kind::private_lifo ? &ring<Order::lifo>() : nullptr; }
  bool is_private_list() const {
    const Kind kind = kind_;
    return kind == Kind::private_fifo || kind == Kind::private_lifo;
  }

  /// Whether steal() takes from another end than pop(), which is the owner's then.
  bool is_deque() const { return kind_ == Kind::deque; }
  /// Of a pool of the user's own: mpmc.
  Access access() const { return access_; }
  /// Not of a pool of the user's own.
  Order order() const { return order_; }
  bool is_custom() const { return custom_; }
  /// Whether there has been one of the user's own.
  static bool customs_are_known() { return custom_made.load(std::memory_order_relaxed); }

  /// Units that are put into it for the first time, and that do not say how they are preempted, have this kind then.
  /// Before the first of them, and before a scheduler has the pool.
  void set_preemption(Preemption kind);
  Preemption preemption() const { return preemption_; }
  /// From now on nothing is preempted in functions of the program's pools: before there is a preemptive unit.
  static void hold_off_custom();
  /// By a KLT that has no worker: whether it is in a function of a pool of the program's.
  static bool custom_is_called_without_worker();

  /// visit(const Pool&) for all that there are, from anywhere, while others come and go. One that is being visited is
  /// not destroyed before the visit is over.
  template <class Visit>
  static void for_each(Visit visit) {
    const unsigned made = pools_made.load(std::memory_order_acquire);
    const std::atomic<Pool*>* pools = every_pool.items();
    for (unsigned index = 0; index < made; ++index) {
      // Either the look at `lives_` comes after it was cleared, or destroy() sees the looker and waits.
      lookers.fetch_add(1, std::memory_order_seq_cst);
      const Pool& pool = *pools[index].load(std::memory_order_relaxed);
      if (pool.lives_.load(std::memory_order_seq_cst)) visit(pool);
      lookers.fetch_sub(1, std::memory_order_release);
    }
  }

  /// The worker whose scheduler has it as its first pool, or for itself (Access::priv); nullptr: none, or not known.
  /// For others a hint.
  std::atomic<const Worker*> server{nullptr};

 private:
  enum class Kind : std::uint8_t { private_fifo, private_lifo, deque, other };
  using PrivateFifo = Ring<Order::fifo>;
  using PrivateLifo = Ring<Order::lifo>;

  struct Operations {
    void (*push)(Pool& pool, Unit* unit);
    void (*push_many)(Pool& pool, Unit* first, Unit* last, std::size_t count);
    void (*push_behind)(Pool& pool, Unit* unit);
    Unit* (*pop)(Pool& pool);
    Unit* (*steal)(Pool& pool);
    unsigned (*pop_many)(Pool& pool, Unit** units, unsigned most);
    std::size_t (*size)(const Pool& pool);
    void (*end)(Pool& pool);
    const Operations* marking;  // the same, for a pool whose units have a kind by default
  };
  template <class Store, Access allowed>
  struct Through;
  template <Access allowed>
  struct Held;

  template <class Store, Access allowed, class... Arguments>
  static Pool* make(Kind kind, const Arguments&... arguments);
  static Pool* create_fifo(Access access);
  static Pool* create_lifo(Access access);
  static Pool* create_priority(Access access);
  static Pool* create_deque(Access access);

  Pool() = default;
  ~Pool() = default;
  static Pool* take_memory(std::size_t size);

  // What holds the units stands right behind the pool, in the same piece of memory.
  void* place() const { return const_cast<Pool*>(this + 1); }
  template <class Store>
  Store& store() const {
    return *std::launder(static_cast<Store*>(place()));
  }

  // Whether push() is for one producer only: a deque without a lock.
  bool has_one_owner() const {
    const bool for_one = access_ == Access::spsc || access_ == Access::spmc;
    return for_one && (order_ == Order::fifo || order_ == Order::deque);
  }

  void announce() {
    os::light_fence();
    if (waiters_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one();
  }
  void wake_one();
  Unit* wait(std::uint64_t nanoseconds);

  // The memory of all pools that there have been.
  static base::KeptArray<Pool*> every_pool;
  static std::atomic<unsigned> pools_made;
  static std::atomic<unsigned> lookers;  // in for_each()
  static std::atomic<bool> custom_made;
  static Pool* create_store(Order order, Access access);
  friend void reset_shared_pools();

  base::Relaxed<Kind> kind_{Kind::other};
  Access access_ = Access::mpmc;
  std::uint16_t lines_ = 0;  // its size in cache lines, with the store
  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> wakes_{0};  // what they sleep on
  Order order_ = Order::fifo;
  bool custom_ = false;
  std::atomic<bool> lives_{false};
  base::Relaxed<Preemption> preemption_{Preemption{}};
  base::Relaxed<const Operations*> operations_{nullptr};
  List<Order::fifo, Spinlock> returned_;  // access priv
};

/// In a forked child.
void reset_shared_pools();

static_assert(sizeof(Pool) == base::cache_line);

}  // namespace weft::core
