#include "faces/openmp/thread_number.h"

#include <atomic>

#include "faces/openmp/member.h"
#include "faces/openmp/ompt/watched.h"

namespace weft::openmp {
namespace {

constinit std::atomic<int> given{0};
constinit thread_local int own = 0;  // plus 1; 0: not given yet

// LLVM's compiler asks at the head of a function, before the region within: a tool knows the thread from then on.
[[gnu::noinline, gnu::cold]] int first_number() {
  if (ompt::watched) this_member();
  own = given.fetch_add(1, std::memory_order_relaxed) + 1;
  return own - 1;
}

}  // namespace

// Out of line, so that no caller keeps the address of a thread-local variable across a switch.
[[gnu::noinline]] int thread_number() { return own != 0 ? own - 1 : first_number(); }

int thread_numbers_given() { return given.load(std::memory_order_relaxed); }

}  // namespace weft::openmp
