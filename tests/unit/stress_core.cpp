// Random mixes of create, join, yield, suspend, mutex, condition, semaphore and barrier over many units
// and roots. `--seconds=N` runs rounds for that long (default: a second); `--seed=N` repeats a run.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/ready.h"
#include "core/sync/barrier.h"
#include "core/sync/condition.h"
#include "core/sync/mutex.h"
#include "core/sync/semaphore.h"
#include "support.h"

namespace weft::test {
namespace {

// What all flows of control of a round share, and what must add up at its end.
struct World {
  core::Mutex mutex;
  std::uint64_t guarded = 0;  // under the mutex
  std::atomic<std::uint64_t> guarded_wanted{0};
  core::Semaphore permits{2};
  std::atomic<int> with_permit{0};
  core::Condition changed;
  core::Mutex queue_lock;
  unsigned queued = 0;
  std::atomic<core::Unit*> sleepers[8] = {};
  std::atomic<std::uint64_t> suspended{0}, resumed{0};
  std::atomic<std::uint64_t> started{0}, finished{0};
  std::atomic<bool> closing{false};
  std::atomic<unsigned> errors{0};

  void check(bool holds, const char* what) {
    if (holds) return;
    if (errors++ == 0) std::fprintf(stderr, "stress_core: %s\n", what);
  }
};

// Small: each flow has one on its stack.
class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  std::uint32_t operator()() {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ ^ state_ >> 15U) * 2654435761U >> 4U;
  }

 private:
  std::uint32_t state_;
};

void act(World& world, Random& random, unsigned depth);

void flow(World& world, std::uint32_t seed, unsigned depth) {
  ++world.started;
  Random random(seed);
  const unsigned steps = 2 + random() % 12;
  for (unsigned step = 0; step < steps; ++step) act(world, random, depth);
  ++world.finished;
}

void suspend_somewhere(World& world, Random& random) {
  // The place is taken by exchange: who finds another there resumes it.
  core::Unit& self = core::this_unit();
  core::prepare_suspend(self);
  ++world.suspended;
  core::Unit* other = world.sleepers[random() % 8].exchange(&self, std::memory_order_acq_rel);
  if (other != nullptr) {
    ++world.resumed;
    core::resume(*other);
  }
  core::suspend();
}

void resume_somebody(World& world, Random& random) {
  if (core::Unit* other = world.sleepers[random() % 8].exchange(nullptr, std::memory_order_acq_rel)) {
    ++world.resumed;
    core::resume(*other);
  }
}

void use_mutex(World& world, Random& random) {
  world.mutex.lock();
  const std::uint64_t before = world.guarded;
  if (random() % 8 == 0) core::yield();
  world.check(world.guarded == before, "the mutex let two in");
  world.guarded = before + 1;
  world.mutex.unlock();
  ++world.guarded_wanted;
}

void use_semaphore(World& world, Random& random) {
  world.permits.acquire();
  world.check(++world.with_permit <= 2, "the semaphore let three in");
  if (random() % 4 == 0) core::yield();
  --world.with_permit;
  world.permits.release();
}

void use_condition(World& world, Random& random) {
  // Somebody who waits for the queue to change is woken by whoever changes it next; the round's end
  // wakes all.
  world.queue_lock.lock();
  if (random() % 4 == 0 && !world.closing) {
    const unsigned seen = world.queued;
    while (world.queued == seen && !world.closing) world.changed.wait(world.queue_lock);
  } else {
    ++world.queued;
    if (random() % 2 == 0)
      world.changed.notify_one();
    else
      world.changed.notify_all();
  }
  world.queue_lock.unlock();
}

void have_children(World& world, Random& random, unsigned depth) {
  const unsigned count = 1 + random() % 6;
  Jobs jobs(random() % 2 == 0 ? core::Technique::roc_l : core::Technique::full_l,
            random() % 8 == 0 ? std::size_t{64} << 10U << random() % 4 : 0);
  for (unsigned child = 0; child < count; ++child) {
    const auto seed = random();
    jobs.start([&world, seed, depth] { flow(world, seed, depth - 1); });
  }
  if (random() % 2 == 0) core::yield();
  jobs.join();
}

void meet_children(World& world, Random& random) {
  const unsigned count = 2 + random() % 6;
  core::Barrier barrier(count);
  std::atomic<unsigned> last{0};
  {
    Jobs jobs(random() % 2 == 0 ? core::Technique::roc_l : core::Technique::full_l);
    for (unsigned child = 0; child < count; ++child)
      jobs.start([&] {
        for (int round = 0; round < 3; ++round)
          if (barrier.arrive_and_wait()) ++last;
      });
  }
  world.check(last == 3, "a barrier's round had not exactly one last");
}

void act(World& world, Random& random, unsigned depth) {
  switch (random() % 10) {
    case 0:
    case 1:
      core::yield();
      break;
    case 2:
      use_mutex(world, random);
      break;
    case 3:
      use_semaphore(world, random);
      break;
    case 4:
      use_condition(world, random);
      break;
    case 5:
      suspend_somewhere(world, random);
      break;
    case 6:
      resume_somebody(world, random);
      break;
    case 7:
      if (depth > 0) have_children(world, random, depth);
      break;
    case 8:
      if (depth > 0) meet_children(world, random);
      break;
    default:
      for (unsigned spin = random() % 200; spin > 0; --spin) arch::relax();
  }
}

bool round_of_stress(std::uint32_t seed) {
  World world;
  Random random(seed);
  const unsigned roots = 1 + random() % 4;
  std::atomic<unsigned> roots_left{roots};
  std::vector<std::thread> threads;
  for (unsigned root = 0; root < roots; ++root) {
    const auto seed_of_root = random();
    threads.emplace_back([&, seed_of_root] {
      const int before = klt();
      {
        Random of_root(seed_of_root);
        Jobs jobs;
        for (unsigned unit = 0; unit < 20; ++unit) {
          const auto seed_of_unit = of_root();
          jobs.start([&world, seed_of_unit] { flow(world, seed_of_unit, 2); });
        }
        flow(world, seed_of_root, 2);
      }
      world.check(klt() == before, "a root came back on another KLT");
      --roots_left;
    });
  }
  // Those who wait for a change that nobody makes any more are woken from here.
  while (roots_left.load() != 0) {
    for (auto& place : world.sleepers)
      if (core::Unit* unit = place.exchange(nullptr)) {
        ++world.resumed;
        core::resume(*unit);
      }
    world.queue_lock.lock();
    ++world.queued;
    world.queue_lock.unlock();
    world.changed.notify_all();
    if (core::runtime.workers > 1) nap(std::chrono::microseconds(100));
    core::yield();
  }
  for (std::thread& thread : threads) thread.join();
  world.check(world.started == world.finished, "not every unit that started has finished");
  world.check(world.suspended == world.resumed, "suspensions and resumptions differ");
  world.check(world.guarded == world.guarded_wanted, "the mutex lost an update");
  for (auto& place : world.sleepers) world.check(place.load() == nullptr, "a suspended unit was left behind");
  if (world.errors == 0) return true;
  std::fprintf(stderr, "stress_core: seed %u\n", seed);
  return false;
}

}  // namespace
}  // namespace weft::test

int main(int argc, char** argv) {
  using namespace weft::test;
  ::testing::InitGoogleTest(&argc, argv);
  configure_from_environment();
  int seconds = 1;
  std::uint32_t seed = 7919;  // the short run is the same each time
  bool one_seed = false;
  for (int index = 1; index < argc; ++index) {
    if (std::strncmp(argv[index], "--seconds=", 10) == 0) {
      seconds = std::atoi(argv[index] + 10);
      if (!one_seed) seed = static_cast<std::uint32_t>(getpid()) * 7919U;
    }
    if (std::strncmp(argv[index], "--seed=", 7) == 0) {
      seed = static_cast<std::uint32_t>(std::strtoul(argv[index] + 7, nullptr, 10));
      one_seed = true;
    }
  }
  weft::core::worker_here();  // main is a root too, before other threads are: it reads what start-up writes
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  unsigned rounds = 0;
  do {
    // Printed before the round: a round that hangs can be repeated.
    if (one_seed || rounds == 0) std::printf("seed %u\n", seed);
    if (!round_of_stress(seed)) return EXIT_FAILURE;
    ++rounds;
    if (!one_seed) seed = seed * 1664525U + 1013904223U;
  } while (std::chrono::steady_clock::now() < end);
  expect_idle();
  if (::testing::UnitTest::GetInstance()->Failed()) return EXIT_FAILURE;
  std::printf("%u rounds\n", rounds);
  return EXIT_SUCCESS;
}
