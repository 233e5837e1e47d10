// Barrier for a fixed number of ULTs and roots, usable again and again.
//
// At first all that is counted is counted under the lock of its queue in the parking lot: an arrival goes to the queue
// anyway, so that is one atomic operation. The number of the round tells one who gives up whether it was still counted.
//
// Once the parties of a round were on several workers, that lock, and the waiters, would cross from core to core at
// each arrival. From then on each worker has a shard (barrier.cpp): what arrives there crosses to nobody, but for one
// number per shard and round.
#pragma once

#include <atomic>

#include "core/timer.h"

namespace weft::core {

struct BarrierShard;
struct BarrierShards;
struct Bucket;
class Waiters;

class Barrier {
 public:
  enum class Outcome : std::uint8_t { passed, passed_last, timed_out };

  explicit Barrier(std::uint32_t parties) : parties_(parties) {}
  ~Barrier() { give_back(); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// True for exactly one of the parties of each round: the last to arrive.
  bool arrive_and_wait();
  /// When the deadline has passed, and some have not arrived, the caller has not arrived either.
  Outcome wait_until(std::uint64_t deadline) {
    if (deadline != never) [[unlikely]]
      return timed_wait(deadline);
    return arrive_and_wait() ? Outcome::passed_last : Outcome::passed;
  }
  /// Arrives only if it is the last; for those that cannot wait.
  [[nodiscard]] bool try_arrive_last();
  /// How many have arrived and wait.
  std::uint32_t arrived() const;
  std::uint32_t parties() const { return parties_; }
  /// Frees what it has allocated; it can be used all the same. Nobody waits, or arrives; who has been let go may still
  /// be on its way out.
  void give_back();

 private:
  enum class Arrival : std::uint8_t { waits, last, elsewhere };

  Arrival arrive();
  void complete(Waiters& waiters);
  void complete_under(Bucket& locked);
  Outcome timed_wait(std::uint64_t deadline);
  bool take_back(std::uint32_t round);
  Outcome wait_in_queue(std::uint32_t round, std::uint64_t deadline, bool counted = false);

  bool wait_in_shard(BarrierShards& shards);
  Outcome wait_beside_shards(BarrierShards& shards, std::uint64_t deadline);
  bool take_back_from(BarrierShards& shards, BarrierShard& shard, std::uint32_t round);
  void release(BarrierShards& shards);
  void begin_way();
  void end_way();
  std::uint32_t count_on_their_way() const;

  std::atomic<std::uint32_t> arrived_{0};  // while there are no shards
  std::atomic<std::uint32_t> round_{0};
  const std::uint32_t parties_;
  // Have arrived beside the shards, and do not stand in the queue yet; in the upper half, since which fork: those of
  // the parent's will not come.
  std::atomic<std::uint32_t> on_their_way_{0};
  std::atomic<BarrierShards*> shards_{nullptr};  // once there, for good
};

}  // namespace weft::core
