// Waiting for the first of several events.
#pragma once

#include <cstdint>

#include "core/parking_lot.h"
#include "core/timer.h"

namespace weft::core {

class Flag;
class Latch;
class Semaphore;

/// What can be waited for: a flag (that of an eventual or a future, too), a latch; a permit of a semaphore, which is
/// acquired.
class Event {
 public:
  enum class Kind : std::uint8_t { flag, latch, semaphore };
  Event() = default;
  explicit Event(const Flag& flag) : kind_(Kind::flag), object_(&flag) {}
  explicit Event(const Latch& latch) : kind_(Kind::latch), object_(&latch) {}
  explicit Event(const Semaphore& semaphore) : kind_(Kind::semaphore), object_(&semaphore) {}

  /// Whether it has happened; acquires the permit.
  bool try_take() const;
  /// A set flag or an open latch stays so: being woken for it is enough.
  bool lasts() const { return kind_ != Kind::semaphore; }
  ParkPlace place() const;

 private:
  Kind kind_ = Kind::flag;
  const void* object_ = nullptr;
};

/// The first event, in their order, that has happened; count: none has.
std::uint32_t poll_any(const Event* events, std::uint32_t count);

/// Waits until one has happened; count: the deadline has passed. `places`: room for `count`, to work in.
std::uint32_t wait_any(const Event* events, ParkPlace* places, std::uint32_t count, std::uint64_t deadline);

}  // namespace weft::core
