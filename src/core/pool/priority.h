// Pools by priority: the highest first, equal ones first in first out.
//
// The units of one priority stand in a bucket, a first-in-first-out list. The buckets that hold anything are a treap
// (C. R. Aragon and R. Seidel, "Randomized Search Trees", FOCS 1989): a search tree by priority that is a heap by
// weight. The weight is a hash of the priority, one to one, so no two are equal, and the shape of the tree depends on
// nothing but which priorities are in it. Push and pop take O(log k) expected steps for k different priorities at a
// time, however many units there are; for the few priorities that programs use that is next to nothing.
//
// Only the highest bucket is ever taken out, once it is empty, and it has no higher child: its lower one takes its
// place.
//
// Without memory for a further bucket a unit goes to those of the nearest priority that has one: a push never fails,
// for the resumer of a unit could do nothing about it. One bucket is the tree's own.
//
// Rejected: a binary heap in an array, O(log n) for n units, which grows under the lock and must number the units to
// keep equal ones in order; a pairing heap, which needs a second link in each unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/fifo.h"
#include "core/pool/chain.h"
#include "core/pool/count.h"
#include "core/pool/take_many.h"
#include "core/spinlock.h"
#include "core/unit.h"

namespace weft::core {

/// Not thread-safe.
class PriorityTree {
 public:
  /// Buckets are allocated so many at a time, by the user of the tree, and stay with it until its end.
  struct Chunk;
  static Chunk* allocate();

  PriorityTree() { give(own_); }
  PriorityTree(const PriorityTree&) = delete;
  PriorityTree& operator=(const PriorityTree&) = delete;
  ~PriorityTree();

  /// False if it lacks a bucket: give it a chunk, and try again.
  [[nodiscard]] bool push(Unit* unit);
  /// With the nearest priority, if it lacks a bucket.
  void push_anyhow(Unit* unit);
  Unit* pop();
  void give(Chunk* chunk);

 private:
  struct Bucket {
    std::int32_t priority;
    std::uint32_t weight;
    Bucket* lower;  // in the list of spare buckets: the next one
    Bucket* higher;
    base::Fifo<Unit, &Unit::next> units;
  };

  static std::uint32_t weigh(std::int32_t priority);
  Bucket* open(std::int32_t priority, std::uint32_t weight, Bucket** link);
  void give(Bucket& bucket) {
    bucket.lower = spare_;
    spare_ = &bucket;
  }

  Bucket* root_ = nullptr;
  Bucket* spare_ = nullptr;
  Chunk* chunks_ = nullptr;
  Bucket own_{};
};

struct PriorityTree::Chunk {
  Chunk* next;
  Bucket buckets[16];
};

inline PriorityTree::Chunk* PriorityTree::allocate() {
  void* memory = std::malloc(sizeof(Chunk));
  return memory != nullptr ? new (memory) Chunk{} : nullptr;
}

inline PriorityTree::~PriorityTree() {
  while (chunks_ != nullptr) {
    Chunk* chunk = chunks_;
    chunks_ = chunk->next;
    std::free(chunk);
  }
}

inline void PriorityTree::give(Chunk* chunk) {
  chunk->next = chunks_;
  chunks_ = chunk;
  for (Bucket& bucket : chunk->buckets) give(bucket);
}

/// The finaliser of A. Appleby's MurmurHash3, which is one to one.
inline std::uint32_t PriorityTree::weigh(std::int32_t priority) {
  auto hash = static_cast<std::uint32_t>(priority);
  hash = (hash ^ (hash >> 16U)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13U)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16U);
}

inline bool PriorityTree::push(Unit* unit) {
  const std::int32_t priority = details(*unit).priority;
  const std::uint32_t weight = weigh(priority);
  Bucket** link = &root_;
  while (*link != nullptr && (*link)->weight > weight)
    link = priority > (*link)->priority ? &(*link)->higher : &(*link)->lower;
  Bucket* bucket = *link;  // the only place where a bucket of that weight may be
  if (bucket == nullptr || bucket->weight != weight) {
    bucket = open(priority, weight, link);
    if (bucket == nullptr) return false;
  }
  bucket->units.push(unit);
  return true;
}

inline void PriorityTree::push_anyhow(Unit* unit) {
  if (push(unit)) return;
  const auto distance = [unit](const Bucket& bucket) {
    const std::int64_t difference = std::int64_t{details(*unit).priority} - bucket.priority;
    return difference < 0 ? -difference : difference;
  };
  Bucket* nearest = nullptr;
  for (Bucket* bucket = root_; bucket != nullptr;) {
    if (nearest == nullptr || distance(*bucket) < distance(*nearest)) nearest = bucket;
    bucket = details(*unit).priority > bucket->priority ? bucket->higher : bucket->lower;
  }
  if (nearest != nullptr) nearest->units.push(unit);  // there is one: none is spare
}

/// A bucket in place of the one at `link`, which is lighter: what was there is split among its sides.
inline PriorityTree::Bucket* PriorityTree::open(std::int32_t priority, std::uint32_t weight, Bucket** link) {
  Bucket* bucket = spare_;
  if (bucket == nullptr) return nullptr;
  spare_ = bucket->lower;
  bucket->priority = priority;
  bucket->weight = weight;
  Bucket** lower = &bucket->lower;
  Bucket** higher = &bucket->higher;
  for (Bucket* rest = *link; rest != nullptr;) {
    Bucket**& side = rest->priority < priority ? lower : higher;
    Bucket** inner = rest->priority < priority ? &rest->higher : &rest->lower;
    *side = rest;
    side = inner;
    rest = *inner;
  }
  *lower = nullptr;
  *higher = nullptr;
  *link = bucket;
  return bucket;
}

inline Unit* PriorityTree::pop() {
  if (root_ == nullptr) return nullptr;
  Bucket** link = &root_;
  while ((*link)->higher != nullptr) link = &(*link)->higher;
  Bucket* bucket = *link;
  Unit* unit = bucket->units.pop();
  if (bucket->units.empty()) {
    *link = bucket->lower;
    bucket->lower = spare_;
    spare_ = bucket;
  }
  return unit;
}

/// The pool: a tree behind a lock. Memory is fetched outside it.
template <class Lock>
class ByPriority {
 public:
  void push(Unit* unit) { push_many(unit, unit, 1); }

  void push_many(Unit* first, Unit* last, std::size_t) {
    PriorityTree::Chunk* chunk = nullptr;
    bool anyhow = false;
    while (!push_while_possible(first, last, chunk, anyhow)) {
      chunk = PriorityTree::allocate();
      anyhow = chunk == nullptr;
    }
  }

  Unit* pop() {
    Unit* unit = nullptr;
    return pop_many(&unit, 1) != 0 ? unit : nullptr;
  }

  unsigned pop_many(Unit** units, unsigned most) {
    if (size() == 0) return 0;
    Guard guard(lock_);
    const unsigned taken = take_many(units, most, [this] { return tree_.pop(); });
    count_.subtract(taken);
    return taken;
  }

  std::size_t size() const { return count_.get(); }

 private:
  // Pushes first..last; on lack of buckets `first` is where it stopped.
  bool push_while_possible(Unit*& first, const Unit* last, PriorityTree::Chunk* chunk, bool anyhow) {
    Guard guard(lock_);
    if (chunk != nullptr) tree_.give(chunk);
    for (;;) {
      Unit* unit = first;
      Unit* next = unit->next;
      if (anyhow)
        tree_.push_anyhow(unit);
      else if (!tree_.push(unit))
        return false;
      count_.add(1);
      if (unit == last) return true;
      first = next;
    }
  }

  [[no_unique_address]] Lock lock_;
  Count count_;
  PriorityTree tree_;
};

}  // namespace weft::core
