// What a pool promises: in which order units come out, and who may put them in and take them out.
#pragma once

#include <cstdint>

namespace weft::core {

enum class Order : std::uint8_t {
  fifo,
  lifo,
  priority,  // highest Unit::priority first, equal ones first in first out
  deque      // newest first for the owner, oldest first for thieves
};

/// Single or multiple producers, single or multiple consumers, by worker; priv: one worker is both.
enum class Access : std::uint8_t { priv, spsc, mpsc, spmc, mpmc };

}  // namespace weft::core
