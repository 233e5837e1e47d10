#include "faces/openmp/thread_number.h"

#include <atomic>

namespace weft::openmp {
namespace {

constinit std::atomic<int> given{0};
constinit thread_local int own = 0;  // plus 1; 0: not given yet

}  // namespace

// Out of line, so that no caller keeps the address of a thread-local variable across a switch.
[[gnu::noinline]] int thread_number() {
  if (own == 0) own = given.fetch_add(1, std::memory_order_relaxed) + 1;
  return own - 1;
}

int thread_numbers_given() { return given.load(std::memory_order_relaxed); }

}  // namespace weft::openmp
