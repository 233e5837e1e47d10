// Future: `count` values, set one by one by anybody; when all are there, whoever waits goes on. Before that, the
// last setter calls the callback once. As ABT_future of Argobots (compartments).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/sync/flag.h"

namespace weft::core {

class Future {
 public:
  using Callback = void (*)(void** values, std::uint32_t count, void* argument);

  /// `values`: `count` places, or nullptr if only the number matters. `callback` may be nullptr.
  Future(std::uint32_t count, void** values, Callback callback, void* argument)
      : count_(count), values_(values), callback_(callback), argument_(argument) {}

  /// Takes the next place. False: all are taken.
  bool set(void* value);
  bool is_ready() const { return ready_.is_set(); }
  bool wait_until(std::uint64_t deadline) const { return ready_.wait_until(deadline); }
  void reset();
  const Flag& ready() const { return ready_; }

 private:
  Flag ready_;
  std::uint32_t count_;
  std::atomic<std::uint32_t> taken_{0};   // places
  std::atomic<std::uint32_t> filled_{0};  // of those taken
  void** values_;
  Callback callback_;
  void* argument_;
};

}  // namespace weft::core
