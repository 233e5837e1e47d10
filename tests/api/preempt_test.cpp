// weft_unit_attr.preemption: units that never give way by themselves, and what must be as before when they come back.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <weft/weft.hpp>

#include "support.h"

namespace weft::test {
namespace {

std::uint64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
std::uint64_t cpu_time_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
  std::atomic<unsigned> bytes{0};
};

class Preempt : public ApiTest, public ::testing::WithParamInterface<weft_preemption> {
 protected:
  static constexpr std::uint64_t slice_ns = 200 * 1000;
  void SetUp() override {
    ApiTest::SetUp();
    if (thread_sanitizer || address_sanitizer) GTEST_SKIP() << "nothing is preempted under sanitizers";
    ASSERT_EQ(weft_preempt_timer(WEFT_TIMER_ALIGNED, slice_ns), WEFT_OK);
    before_ = weft_preemptions();
  }
  weft_unit_attr preemptive(unsigned flags = WEFT_OWN_TLS, weft_technique technique = WEFT_AUTO) const {
    weft_unit_attr attr = with(technique);
    attr.preemption = GetParam();
    attr.flags = flags;
    return attr;
  }
  std::uint64_t preemptions() const { return weft_preemptions() - before_; }
  static unsigned more_than_workers() { return weft_worker_count() + 5; }

 private:
  std::uint64_t before_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Preempt, ::testing::Values(WEFT_PREEMPT_SIGNAL_YIELD, WEFT_PREEMPT_KLT_SWITCH),
                         [](const auto& instance) {
                           return std::string(instance.param == WEFT_PREEMPT_SIGNAL_YIELD ? "SignalYield"
                                                                                          : "KltSwitch");
                         });

/// A barrier as programs write them that trust in being preempted.
class SpinBarrier {
 public:
  explicit SpinBarrier(unsigned members) : members_(members) {}
  void wait() {
    const unsigned round = round_.load();
    if (arrived_.fetch_add(1) + 1 == members_) {
      arrived_.store(0);
      round_.fetch_add(1);
      return;
    }
    while (round_.load(std::memory_order_relaxed) == round) {
    }
  }

 private:
  const unsigned members_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> round_{0};
};

TEST_P(Preempt, SpinningBarriersEnd) {
  for (const weft_technique technique : all_techniques) {
    if (!may_wait(technique) || child_first(technique)) continue;
    for (const unsigned flags : {0U, unsigned{WEFT_OWN_TLS}}) {
      const unsigned members = more_than_workers();
      SpinBarrier barrier(members);
      std::atomic<unsigned> through{0};
      Jobs jobs;
      for (unsigned number = 0; number < members; ++number)
        jobs.start(preemptive(flags, technique), [&] {
          for (int round = 0; round < 3; ++round) barrier.wait();
          ++through;
        });
      jobs.join();
      EXPECT_EQ(through.load(), members);
    }
  }
}

// A child runs in place of its creator, and may be left in the midst, with its kernel thread, while that waits for it.
TEST_P(Preempt, ChildFirstUnitsOfUnitsThatArePreempted) {
  for (const weft_technique technique : all_techniques) {
    if (!child_first(technique)) continue;
    std::atomic<unsigned> ended{0};
    const unsigned parents = 20 * more_than_workers();
    constexpr unsigned children = 20;
    Jobs jobs;
    for (unsigned number = 0; number < parents; ++number)
      jobs.start(preemptive(number % 2 != 0 ? unsigned{WEFT_OWN_TLS} : 0U), [&] {
        for (unsigned turn = 0; turn < children; ++turn) {
          weft_yield();
          Jobs own;
          own.start(preemptive(0, technique), [&, turn] {
            for (unsigned yields = 0; yields < turn % 4; ++yields) weft_yield();
            const std::uint64_t began = now_ns();
            while (now_ns() - began < turn % 3 * 20 * 1000) {
            }
            ++ended;
          });
          own.join();
        }
      });
    jobs.join();
    EXPECT_EQ(ended.load(), parents * children) << plain_name(technique);
  }
}

// Bug: with KLT-switching it began with those of the thread that had started weft.
TEST_P(Preempt, AChildOfARootBeginsWithItsModes) {
  const int before = std::fegetround();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  Jobs jobs;
  for (const weft_technique technique : all_techniques) {
    if (!child_first(technique)) continue;
    jobs.start(preemptive(0, technique), [] { EXPECT_EQ(std::fegetround(), FE_UPWARD); });
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
  }
  ASSERT_EQ(std::fesetround(before), 0);
  jobs.join();
}

// Those that take turns pass their worker on among themselves; what comes from outside has its turn all the same.
TEST_P(Preempt, UnitsThatTakeTurnsLetOthersIn) {
  for (int round = 0; round < 5; ++round) {
    weft_eventual wanted;
    ASSERT_EQ(weft_eventual_init(&wanted, nullptr, 0), WEFT_OK);
    std::atomic<bool> stop{false};
    Jobs jobs;
    jobs.start(with(WEFT_AUTO), [&] {
      weft_eventual_wait(&wanted, nullptr, nullptr);
      stop = true;
    });
    for (unsigned number = 0; number < more_than_workers(); ++number)
      jobs.start(preemptive(), [&] {
        while (!stop.load(std::memory_order_relaxed)) {
        }
      });
    std::thread outside([&] {
      usleep(10 * 1000);  // they all have had a slice
      weft_eventual_set(&wanted, nullptr, 0);
    });
    jobs.join();
    outside.join();
    EXPECT_EQ(weft_eventual_destroy(&wanted), WEFT_OK);
  }
}

// And a wait whose worker they have is over when that is due, not when they are done.
TEST_P(Preempt, UnitsThatTakeTurnsLetARootGoOn) {
  std::atomic<bool> stop{false};
  Jobs spinning;
  for (unsigned number = 0; number < more_than_workers(); ++number)
    spinning.start(preemptive(), [&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  for (int round = 0; round < 5; ++round) {
    Jobs awaited;
    awaited.start(preemptive(), [] {
      const std::uint64_t began = now_ns();
      while (now_ns() - began < 2 * 1000 * 1000) {
      }
    });
    awaited.join();
  }
  stop = true;
  spinning.join();
}

// Each waits for the lock in the kernel, keeps its kernel thread, and would keep its worker for slice after slice.
TEST_P(Preempt, UnitsThatSleepLeaveSlicesToWhoeverTheySleepFor) {
  if (GetParam() != WEFT_PREEMPT_KLT_SWITCH) GTEST_SKIP() << "signal-yield leaves nothing that sleeps in libc";
  constexpr unsigned units = 100;
  constexpr unsigned in_vain = 25'000;  // slices in vain, where all of them have one for each of the holder's
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  unsigned turns = 0;
  Jobs jobs;
  for (unsigned number = 0; number < units; ++number)
    jobs.start(preemptive(), [&] {
      pthread_mutex_lock(&lock);
      const std::uint64_t began = cpu_time_ns();  // of the kernel thread that it keeps
      while (cpu_time_ns() - began < 5 * slice_ns)
        for (int work = 0; work < 10'000; ++work) asm volatile("");
      ++turns;
      pthread_mutex_unlock(&lock);
    });
  jobs.join();
  EXPECT_EQ(turns, units);
  if (weft_worker_count() == 1) {
    EXPECT_LT(preemptions(), in_vain / 2);
  }
}

// Those that do not give way by themselves, and those that nobody makes.
// Of memory that is filled below a stack, which a unit uses for the most part while it spins.
class SmallStack {
 public:
  // What is called there for the first time, the dynamic linker would look up on it.
  SmallStack() : memory_(below + size, mark) {
    now_ns();
    weft_yield();
  }
  void put_into(weft_unit_attr& attr) {
    attr.stack = memory_.data() + below;
    attr.stack_size = size;
  }
  static void spin_on_it(std::uint64_t nanoseconds) {
    volatile char used[2048];
    used[0] = 1;
    used[sizeof used - 1] = 1;
    const std::uint64_t end = now_ns() + nanoseconds;
    while (now_ns() < end)
      for (int turn = 0; turn < 10000; ++turn) asm volatile("");
  }
  bool is_untouched_below() const {
    return std::all_of(memory_.begin(), memory_.begin() + below, [](char byte) { return byte == mark; });
  }

 private:
  static constexpr std::ptrdiff_t below = 64 * 1024;
  static constexpr std::size_t size = 4096;
  static constexpr char mark = 'x';
  std::vector<char> memory_;
};

// Bug: by the kind of its pool a unit on a stack of the caller's of 4 KiB was preempted, and the signal's frame was
// written over what lay below. So it was where others on the worker are preemptive, and it is not.
TEST_P(Preempt, UnitsOnSmallStacksAreNot) {
  for (const bool by_pool : {true, false}) {
    weft_pool* pool = make_pool();
    if (by_pool) {
      ASSERT_EQ(weft_pool_set_preemption(pool, GetParam()), WEFT_OK);
    }
    const OwnWorker worker(WEFT_BASIC_WAIT, {pool});
    SmallStack stacks[2];
    std::atomic<unsigned> ended{0};
    Jobs jobs;
    weft_unit_attr attr = preemptive(0, WEFT_FULL_L);
    attr.pool = pool;
    const auto start_preemptive = [&] {
      jobs.start(attr, [&] {
        while (ended != 2) {
        }
      });
    };
    start_preemptive();
    for (SmallStack& stack : stacks) {
      weft_unit_attr small = with(WEFT_FULL, pool);
      stack.put_into(small);
      jobs.start(small, [&] {
        for (int turn = 0; turn < 5; ++turn) {
          SmallStack::spin_on_it(10'000'000);
          weft_yield();
        }
        ++ended;
      });
    }
    start_preemptive();
    jobs.join();
    for (const SmallStack& stack : stacks) EXPECT_TRUE(stack.is_untouched_below()) << by_pool;
    EXPECT_GT(preemptions(), 0U);
  }
}

// Bug: in pools that give the newest first, the one whose slice was over came next again, for ever.
TEST_P(Preempt, UnitsGiveWayInPoolsOfEveryOrder) {
  for (const weft_order order : {WEFT_FIFO, WEFT_LIFO, WEFT_PRIORITY, WEFT_DEQUE})
    for (const weft_access access : {WEFT_PRIV, WEFT_SPMC, WEFT_MPMC}) {
      weft_pool* pool = make_pool(order, access);
      const OwnScheduler own(WEFT_BASIC_WAIT, {pool});
      std::atomic<bool> set{false};
      Jobs jobs;
      const auto start_spinner = [&] {
        weft_unit_attr attr = preemptive(0, WEFT_FULL_L);
        attr.pool = pool;
        const std::uint64_t end = now_ns() + 60ULL * 1000 * 1000 * 1000;
        jobs.start(attr, [&, end] {
          while (!set && now_ns() < end) {
          }
          EXPECT_TRUE(set) << order << " " << access;
        });
      };
      start_spinner();
      jobs.start(with(WEFT_ROC_L, pool), [&] { set = true; });
      start_spinner();
      jobs.join();
    }
}

// Bug: what lies behind a unit's stack was taken for what is on it, and a word there that stands for a call by
// dl_iterate_phdr() kept the unit from being left, for ever.
TEST_P(Preempt, WhatLiesBehindTheStackDoesNotCount) {
  constexpr std::size_t stack_words = 8192, words_behind = 2048;
  // As many of them as there are: none can begin before one of the others is left.
  std::vector<std::vector<void*>> memories(more_than_workers(), std::vector<void*>(stack_words));
  for (std::vector<void*>& memory : memories)
    memory.resize(stack_words + words_behind, reinterpret_cast<char*>(&dl_iterate_phdr) + 1);
  std::atomic<unsigned> begun{0};
  const std::uint64_t end = now_ns() + 60ULL * 1000 * 1000 * 1000;
  Jobs jobs;
  for (std::vector<void*>& memory : memories) {
    weft_unit_attr attr = preemptive(0, WEFT_FULL_L);
    attr.stack = memory.data();
    attr.stack_size = stack_words * sizeof memory[0];
    jobs.start(attr, [&] {
      ++begun;
      while (begun != memories.size() && now_ns() < end)
        for (int turn = 0; turn < 10000; ++turn) asm volatile("");
      EXPECT_EQ(begun, memories.size());
    });
  }
  jobs.join();
}

TEST_P(Preempt, KindsMix) {
  std::atomic<unsigned> stop{0};
  std::atomic<unsigned> ran{0};
  Jobs jobs;
  for (unsigned number = 0; number < more_than_workers(); ++number)
    jobs.start(preemptive(), [&] {
      while (stop.load(std::memory_order_relaxed) == 0) {
      }
    });
  for (unsigned number = 0; number < 20; ++number) jobs.start(with(WEFT_AUTO), [&] { ++ran; });
  jobs.start(preemptive(), [&] {
    while (ran.load(std::memory_order_relaxed) != 20) {
    }
    stop = 1;
  });
  jobs.join();
  EXPECT_EQ(ran.load(), 20U);
  EXPECT_GT(preemptions(), 0U);
}

TEST_P(Preempt, EachTimerTicks) {
  for (const weft_timer timer : {WEFT_TIMER_CREATION, WEFT_TIMER_ALIGNED, WEFT_TIMER_ONE_TO_ALL, WEFT_TIMER_CHAIN}) {
    ASSERT_EQ(weft_preempt_timer(timer, 100 * 1000), WEFT_OK);
    for (int round = 0; round < 3; ++round) {
      SpinBarrier barrier(more_than_workers());
      Jobs jobs;
      for (unsigned number = 0; number < more_than_workers(); ++number)
        jobs.start(preemptive(), [&] { barrier.wait(); });
      jobs.join();
      usleep(1000);  // workers sleep, and so do timers
    }
  }
}

TEST_P(Preempt, WrongTimersAreRefused) {
  weft_timer unknown;  // as C lets it be
  memset(&unknown, 1, sizeof unknown);
  EXPECT_EQ(weft_preempt_timer(unknown, 1000 * 1000), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_preempt_timer(WEFT_TIMER_CHAIN, 99 * 1000), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_preempt_timer(WEFT_TIMER_CHAIN, 10000000001), WEFT_ERR_ARGUMENT);
  EXPECT_GT(weft_preempt_signal(), SIGRTMIN);
}

// (Bug: what came with it was taken for the address of one of weft's timers.)
TEST_P(Preempt, ATimerOfTheProgramMayHaveTheSameSignal) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = weft_preempt_signal();
  event.sigev_value.sival_ptr = reinterpret_cast<void*>(8);
  timer_t timer{};
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec soon{{0, 0}, {0, 1'000'000}};
  EXPECT_EQ(timer_settime(timer, 0, &soon, nullptr), 0);
  EXPECT_TRUE(eventually([timer] {
    itimerspec left{};
    timer_gettime(timer, &left);
    return left.it_value.tv_nsec == 0 && left.it_value.tv_sec == 0;
  }));
  EXPECT_EQ(timer_delete(timer), 0);
}

// A chain of dependent operations that comes out right only if no register is ever lost.
[[gnu::noipa]] std::uint64_t mix(std::uint64_t seed, unsigned steps) {
  double real = static_cast<double>(seed % 1000);
  std::uint64_t a = seed, b = seed ^ 0x9e3779b97f4a7c15ULL, c = ~seed, d = seed * 3;
  for (unsigned step = 0; step < steps; ++step) {
    a = a * 6364136223846793005ULL + b;
    b ^= c >> 7U;
    c += d * 5 + a;
    d = (d << 13U | d >> 51U) ^ a;
    real = real * 0.999 + static_cast<double>(a % 16);
  }
  std::uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return a ^ b ^ c ^ d ^ bits;
}

// One that spins for another, and that no timer interrupts: its slice is longer than the test. The second time the
// watchdog has gone to rest before, as there was nothing to watch.
TEST_P(Preempt, TheWatchdogIsFaster) {
  EXPECT_EQ(weft_watchdog_slices(10 * 1000 * 1000, 49 * 1000), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_watchdog_slices(200 * 1000, 300 * 1000), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_watchdog_slices(10000000001, 100 * 1000), WEFT_ERR_ARGUMENT);
  if (GetParam() != WEFT_PREEMPT_SIGNAL_YIELD) return;
  ASSERT_EQ(weft_preempt_timer(WEFT_TIMER_ALIGNED, 10000000000), WEFT_OK);
  ASSERT_EQ(weft_watchdog_slices(2 * 1000 * 1000, 200 * 1000), WEFT_OK);
  ASSERT_EQ(weft_watchdog(1), WEFT_OK);
  const std::uint64_t began = now_ns();
  for (const useconds_t rest_us : {0U, 400U * 1000}) {
    usleep(rest_us);
    SpinBarrier barrier(more_than_workers());
    Jobs jobs;
    for (unsigned number = 0; number < more_than_workers(); ++number)
      jobs.start(preemptive(), [&] {
        for (int round = 0; round < 3; ++round) barrier.wait();
      });
    jobs.join();
  }
  EXPECT_LT(now_ns() - began, 25000000000ULL);
  EXPECT_EQ(weft_watchdog(0), WEFT_OK);
  EXPECT_EQ(weft_watchdog_slices(10 * 1000 * 1000, 100 * 1000), WEFT_OK);
}

// Who runs after whom. A turn counts when all have begun and none is done, however long the kernel makes it.
struct Turns {
  static constexpr unsigned units = 4;
  static constexpr unsigned enough = 1000;
  std::atomic<unsigned> begun{0};
  std::atomic<unsigned> last{units};
  std::atomic<unsigned> all{0};
  std::atomic<unsigned> of[units] = {};

  bool over() const { return all >= enough; }
  void note(unsigned me) {
    if (begun < units || over() || last == me) return;
    last = me;
    ++of[me];
    ++all;
  }
};

// In a pool that is first in, first out, units that compute have slices in turn: none is done before another has begun,
// and all have about as many turns. (Not the same number: who is preempted again as soon as it goes on notes none.)
TEST_P(Preempt, RoundRobinIsFair) {
  ASSERT_EQ(weft_preempt_timer(WEFT_TIMER_ALIGNED, 500 * 1000), WEFT_OK);
  weft_pool* pool = nullptr;
  weft_scheduler* scheduler = nullptr;
  weft_worker* worker = nullptr;
  ASSERT_EQ(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool), WEFT_OK);
  ASSERT_EQ(weft_pool_set_preemption(pool, GetParam()), WEFT_OK);
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler), WEFT_OK);
  Turns turns;
  {
    Jobs jobs;
    weft_unit_attr attr = with(WEFT_AUTO, pool);
    attr.flags = WEFT_OWN_TLS;
    for (unsigned number = 0; number < Turns::units; ++number)
      jobs.start(attr, [&turns, number] {
        ++turns.begun;
        const std::uint64_t limit = now_ns() + 60 * 1000000000ULL;
        while (!turns.over() && now_ns() < limit) {
          turns.note(number);
          mix(number, 1000);
        }
        EXPECT_EQ(turns.begun.load(), Turns::units) << "one is done before another has begun";
      });
    ASSERT_EQ(weft_worker_create(scheduler, &worker), WEFT_OK);
    jobs.join();
  }
  ASSERT_EQ(weft_worker_join(worker), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  unsigned least = turns.of[0], most = turns.of[0];
  for (const auto& count : turns.of) {
    least = std::min<unsigned>(least, count);
    most = std::max<unsigned>(most, count);
  }
  EXPECT_TRUE(turns.over()) << turns.all;
  EXPECT_LT(most, 2 * least + 10);
}

// TEST_SECONDS=60 for the long run.
TEST_P(Preempt, AThousandUnitsComputeWhatTheyShould) {
  ASSERT_EQ(weft_preempt_timer(WEFT_TIMER_ALIGNED, 100 * 1000), WEFT_OK);
  const char* text = getenv("TEST_SECONDS");
  const std::uint64_t limit = (text != nullptr ? strtoull(text, nullptr, 10) : 0) * 1000000000ULL;
  const std::uint64_t began = now_ns();
  const std::uint64_t right = mix(7, 20000);
  do {
    std::atomic<unsigned> wrong{0};
    Jobs jobs;
    for (unsigned number = 0; number < 1000; ++number)
      jobs.start(preemptive(number % 2 != 0 ? unsigned{WEFT_OWN_TLS} : 0U), [&] {
        for (int round = 0; round < 5; ++round)
          if (mix(7, 20000) != right) ++wrong;
      });
    jobs.join();
    ASSERT_EQ(wrong.load(), 0U);
  } while (now_ns() - began < limit);
  EXPECT_GT(preemptions(), 0U);
}

#if defined(__x86_64__)
// Values in all vector registers, while the unit is preempted again and again.
[[gnu::noinline]] bool sse_registers_stay(std::uint64_t value, unsigned rounds) {
  std::uint64_t lost = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    std::uint64_t sum = 0, again = 0;
    asm volatile(
        "movq %2, %%xmm0\n\t"
        "movdqa %%xmm0, %%xmm1\n\t paddq %%xmm0, %%xmm1\n\t"
        "movdqa %%xmm1, %%xmm7\n\t paddq %%xmm0, %%xmm7\n\t"
        "movdqa %%xmm7, %%xmm15\n\t paddq %%xmm0, %%xmm15\n\t"
        "movl $20000, %%ecx\n\t"
        "1: decl %%ecx\n\t jnz 1b\n\t"
        "movq %%xmm15, %0\n\t movq %%xmm7, %1"
        : "=&r"(sum), "=&r"(again)
        : "r"(value)
        : "xmm0", "xmm1", "xmm7", "xmm15", "ecx", "cc");
    if (sum != value * 4 || again != value * 3) ++lost;
  }
  return lost == 0;
}

[[gnu::noinline, gnu::target("avx2")]] bool avx_registers_stay(std::uint64_t value, unsigned rounds) {
  std::uint64_t lost = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    alignas(32) std::uint64_t out[8];
    asm volatile(
        "vmovq %1, %%xmm15\n\t"
        "vpbroadcastq %%xmm15, %%ymm15\n\t"
        "vpaddq %%ymm15, %%ymm15, %%ymm8\n\t"
        "movl $20000, %%ecx\n\t"
        "1: decl %%ecx\n\t jnz 1b\n\t"
        "vmovdqu %%ymm15, (%0)\n\t"
        "vmovdqu %%ymm8, 32(%0)\n\t"
        "vzeroupper"
        :
        : "r"(out), "r"(value)
        : "xmm8", "xmm15", "ecx", "cc", "memory");
    for (unsigned lane = 0; lane < 4; ++lane)
      if (out[lane] != value || out[lane + 4] != 2 * value) ++lost;
  }
  return lost == 0;
}

[[gnu::noinline, gnu::target("avx512f")]] bool avx512_registers_stay(std::uint64_t value, unsigned rounds) {
  std::uint64_t lost = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    alignas(64) std::uint64_t out[16];
    asm volatile(
        "vpbroadcastq %1, %%zmm31\n\t"
        "vpaddq %%zmm31, %%zmm31, %%zmm16\n\t"
        "kxnorw %%k1, %%k1, %%k1\n\t"
        "movl $20000, %%ecx\n\t"
        "1: decl %%ecx\n\t jnz 1b\n\t"
        "vmovdqu64 %%zmm31, (%0)%{%%k1%}\n\t"
        "vmovdqu64 %%zmm16, 64(%0)\n\t"
        "vzeroupper"
        :
        : "r"(out), "r"(value)
        : "xmm16", "xmm31", "k1", "ecx", "cc", "memory");
    for (unsigned lane = 0; lane < 8; ++lane)
      if (out[lane] != value || out[lane + 8] != 2 * value) ++lost;
  }
  return lost == 0;
}

TEST_P(Preempt, VectorRegistersAreTheUnitsOwn) {
  ASSERT_EQ(weft_preempt_timer(WEFT_TIMER_ALIGNED, 100 * 1000), WEFT_OK);
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  const bool avx = __builtin_cpu_supports("avx2") != 0;
  std::atomic<unsigned> wrong{0};
  Jobs jobs;
  for (unsigned number = 1; number <= more_than_workers(); ++number)
    jobs.start(preemptive(), [&wrong, number, wide, avx] {
      if (!sse_registers_stay(number * 0x100000001ULL, 1000)) ++wrong;
      if (avx && !avx_registers_stay(number * 0x200000001ULL, 1000)) ++wrong;
      if (wide && !avx512_registers_stay(number * 0x300000001ULL, 1000)) ++wrong;
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_GT(preemptions(), 10U);
}
#endif

thread_local int of_thread;

TEST_P(Preempt, ThreadLocalStorageStaysTheUnitsOwn) {
  std::atomic<unsigned> wrong{0};
  Jobs jobs;
  for (unsigned number = 1; number <= more_than_workers(); ++number)
    jobs.start(preemptive(), [&wrong, number] {
      of_thread = static_cast<int>(number);
      errno = static_cast<int>(number);
      const std::uint64_t end = now_ns() + 20 * 1000 * 1000;
      do {
        if (mix(number, 3000) == 0) ++wrong;
        if (of_thread != static_cast<int>(number) || errno != static_cast<int>(number)) ++wrong;
      } while (now_ns() < end);
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_GT(preemptions(), 0U);
}

// What holds locks inside: it is not left there, or what is left there gets on.
TEST_P(Preempt, LibcAndTheLanguageGoOn) {
  std::atomic<unsigned> wrong{0};
  Jobs jobs;
  for (unsigned number = 1; number <= more_than_workers(); ++number)
    jobs.start(preemptive(), [&wrong, number] {
      const std::uint64_t end = now_ns() + 100 * 1000 * 1000;
      unsigned round = 0;
      do {
        std::vector<std::string> strings;
        for (unsigned index = 0; index < 50; ++index) strings.emplace_back(10 + (index * 37 + round) % 2000, 'x');
        char text[100];
        snprintf(text, sizeof text, "%u %.3f", number, number * 0.5);
        if (strtoul(text, nullptr, 10) != number) ++wrong;
        try {
          if (round % 2 == 0) throw std::runtime_error(text);
        } catch (const std::runtime_error& error) {
          if (strcmp(error.what(), text) != 0) ++wrong;
        }
        if (round % 8 == 0) {
          // Its resolvers run under the dynamic linker's lock.
          const bool held = GetParam() == WEFT_PREEMPT_SIGNAL_YIELD && weft_preempt_disable() == WEFT_OK;
          void* library = dlopen("libm.so.6", RTLD_NOW);
          if (library == nullptr || dlsym(library, "cos") == nullptr) ++wrong;
          if (library != nullptr) dlclose(library);
          if (held) weft_preempt_enable();
        }
        ++round;
      } while (now_ns() < end);
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_GT(preemptions(), 0U);
}

// Bug: whoever came next on the thread had the exceptions of the unit that had been left. These units depend on no
// thread-local storage but that.
TEST_P(Preempt, UnitsAreLeftWhileTheyHandleExceptions) {
  const Attributes attributes{.preemption = GetParam()};
  const auto spin = [] {
    const std::uint64_t end = now_ns() + 200 * 1000;
    while (now_ns() < end) {
    }
  };
  std::atomic<unsigned> right{0};
  const unsigned count = 20 * more_than_workers();
  std::vector<Unit<>> units;
  for (unsigned number = 0; number < count; ++number)
    units.push_back(spawn(attributes, [&, number] {
      try {
        throw number;
      } catch (unsigned outer) {
        spin();
        try {
          throw std::to_string(number);
        } catch (const std::string& inner) {
          if (number % 2 == 0) this_unit::yield();
          spin();
          if (inner == std::to_string(outer) && std::uncaught_exceptions() == 0) ++right;
        }
        try {
          throw;
        } catch (unsigned again) {
          if (again != number) --right;
        }
      }
    }));
  for (Unit<>& unit : units) unit.join();
  EXPECT_EQ(right, count);
  EXPECT_GT(preemptions(), 0U);
}

// Nobody else can take a unit of such a pool that has been left with a lock.
TEST_P(Preempt, UnitsOfAPrivatePoolThrow) {
  weft_pool* pool = nullptr;
  ASSERT_EQ(weft_pool_create(WEFT_FIFO, WEFT_PRIV, &pool), WEFT_OK);
  const OwnScheduler own(WEFT_BASIC, {pool});
  const Attributes attributes{.pool = pool, .flags = WEFT_OWN_TLS, .preemption = GetParam()};
  const std::uint64_t end = now_ns() + 1000 * 1000 * 1000;
  unsigned thrown = 0;
  unsigned caught = 0;
  do {
    std::vector<Unit<>> units;
    for (unsigned number = 0; number < 50; ++number) units.push_back(spawn(attributes, [] { throw 1; }));
    for (Unit<>& unit : units) {
      try {
        unit.join();
      } catch (int) {
        ++caught;
      }
    }
    thrown += 50;
  } while (preemptions() < 20 && now_ns() < end);
  EXPECT_EQ(caught, thrown);
}

TEST_P(Preempt, SystemCallsGoOn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<unsigned> wrong{0};
  std::atomic<bool> over{false};
  std::atomic<unsigned> written{0};
  Jobs jobs;
  constexpr unsigned bytes = 4000;  // fewer than a pipe holds
  // Code that sleeps in the kernel is left by KLT-switching only.
  const bool may_sleep = GetParam() == WEFT_PREEMPT_KLT_SWITCH;
  jobs.start(preemptive(), [&] {
    for (unsigned index = 0; index < bytes; ++index) {
      const auto byte = static_cast<unsigned char>(index);
      if (write(ends[1], &byte, 1) != 1) ++wrong;
      ++written;
    }
  });
  jobs.start(preemptive(), [&] {
    for (unsigned index = 0; index < bytes; ++index) {
      unsigned char byte = 0;
      while (!may_sleep && written.load(std::memory_order_relaxed) <= index) {
      }
      if (read(ends[0], &byte, 1) != 1 || byte != static_cast<unsigned char>(index)) ++wrong;
    }
    over = true;
  });
  for (unsigned number = 0; number < more_than_workers(); ++number)
    jobs.start(preemptive(), [&] {
      while (!over.load(std::memory_order_relaxed)) {
      }
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  close(ends[0]);
  close(ends[1]);
}

// Those that have no thread-local storage of their own sleep on one thread in turn, each until an end of its own.
TEST_P(Preempt, SleepsLastAsAsked) {
  std::atomic<unsigned> awake{0};
  const unsigned sleepers = more_than_workers();
  Jobs jobs;
  for (unsigned number = 0; number < sleepers; ++number)
    jobs.start(preemptive(number % 3 == 2 ? unsigned{WEFT_OWN_TLS} : 0U), [&, number] {
      const unsigned ms = 20 + number % 5 * 10;
      const std::uint64_t slept_from = now_ns();
      EXPECT_EQ(usleep(ms * 1000), 0);
      EXPECT_GE(now_ns() - slept_from, ms * 1000ULL * 1000);
      ++awake;
    });
  for (unsigned number = 0; number < more_than_workers(); ++number)
    jobs.start(preemptive(), [&] {
      while (awake.load(std::memory_order_relaxed) != sleepers) {
      }
    });
  jobs.join();
}

TEST_P(Preempt, IsHeldOffWhereTheUnitSaysSo) {
  std::atomic<unsigned> inside[256] = {}, met{0}, wrong{0};
  EXPECT_EQ(weft_preempt_enable(), WEFT_ERR_STATE);
  Jobs jobs;
  for (unsigned number = 0; number < more_than_workers(); ++number)
    jobs.start(preemptive(), [&] {
      for (int round = 0; round < 20; ++round) {
        if (weft_preempt_disable() != WEFT_OK || weft_preempt_disable() != WEFT_OK) ++wrong;
        // On each worker at most one is inside, if nobody is left there.
        std::atomic<unsigned>& here = inside[weft_worker_index(weft_worker_self()) % 256];
        if (here.fetch_add(1) != 0) ++met;
        mix(1, 100000);
        if (weft_preempt_enable() != WEFT_OK) ++wrong;
        mix(1, 100000);
        here.fetch_sub(1);
        if (weft_preempt_enable() != WEFT_OK) ++wrong;
        mix(1, 1000);
      }
      if (weft_preempt_enable() != WEFT_ERR_STATE) ++wrong;
      for (int depth = 0; depth < 100; ++depth)
        if (weft_preempt_disable() != WEFT_OK) ++wrong;
      if (weft_preempt_disable() != WEFT_ERR_LIMIT) ++wrong;
      while (weft_preempt_enable() == WEFT_OK) {
      }
    });
  jobs.join();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_EQ(met.load(), 0U);
  EXPECT_GT(preemptions(), 0U);
}

// Bug: what the unit had left held off at its end, it was in its next life too.
TEST_P(Preempt, IsNotHeldOffAnyMoreWhenItIsRevived) {
  std::atomic<bool> go{false};
  int disabled = -1, enabled = -1;
  Jobs jobs;
  weft_unit* unit = jobs.start(preemptive(), [&] { disabled = weft_preempt_disable(); });
  ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
  EXPECT_EQ(disabled, WEFT_OK);
  void* again = jobs.keep([&] {
    enabled = weft_preempt_enable();
    if (enabled != WEFT_ERR_STATE) return;
    while (!go.load(std::memory_order_relaxed)) {
    }
  });
  ASSERT_EQ(weft_unit_revive(unit, Jobs::run, again), WEFT_OK);
  jobs.start(with(WEFT_AUTO), [&] { go = true; });
  jobs.join();
  EXPECT_EQ(enabled, WEFT_ERR_STATE);
}

TEST_P(Preempt, PoolsHaveADefault) {
  weft_pool* pool = nullptr;
  weft_pool* second = make_pool();
  weft_scheduler* scheduler = nullptr;
  weft_worker* worker = nullptr;
  ASSERT_EQ(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool), WEFT_OK);
  ASSERT_EQ(weft_pool_set_preemption(pool, GetParam()), WEFT_OK);
  EXPECT_EQ(weft_pool_set_preemption(pool, GetParam()), WEFT_ERR_STATE);
  weft_pool* pools[] = {pool, second};
  ASSERT_EQ(weft_scheduler_create(WEFT_BASIC_WAIT, 2, pools, &scheduler), WEFT_OK);
  ASSERT_EQ(weft_worker_create(scheduler, &worker), WEFT_OK);
  EXPECT_EQ(weft_pool_set_preemption(second, GetParam()), WEFT_ERR_STATE) << "not only the first";
  {
    SpinBarrier barrier(4);
    Jobs jobs;
    for (int number = 0; number < 4; ++number) jobs.start(with(WEFT_AUTO, pool), [&] { barrier.wait(); });
    jobs.join();
  }
  ASSERT_EQ(weft_worker_join(worker), WEFT_OK);
  EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
  EXPECT_EQ(weft_pool_set_preemption(second, GetParam()), WEFT_OK);
  EXPECT_EQ(weft_pool_free(second), WEFT_OK);
  EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  EXPECT_GT(preemptions(), 0U);
}

std::atomic<unsigned> alarms{0};

// The program's own signals, alternate stack and jumps.
TEST_P(Preempt, TheProgramsSignalsAreItsOwn) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { ++alarms; };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  std::vector<char> memory(64 * 1024);
  stack_t stack{}, old{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  ASSERT_EQ(sigaltstack(&stack, &old), 0);
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = 1000;
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  std::atomic<unsigned> wrong{0};
  {
    Jobs jobs;
    for (unsigned number = 0; number < more_than_workers(); ++number)
      jobs.start(preemptive(), [&wrong] {
        const std::uint64_t end = now_ns() + 50 * 1000 * 1000;
        std::jmp_buf place;
        volatile unsigned jumps = 0;
        do {
          if (setjmp(place) == 0) {
            mix(3, 2000);
            std::longjmp(place, 1);
          }
          jumps = jumps + 1;
        } while (now_ns() < end);
        if (jumps == 0) ++wrong;
      });
    jobs.join();
  }
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  stack_t now{};
  sigaltstack(nullptr, &now);
  EXPECT_EQ(now.ss_sp, stack.ss_sp);
  sigaltstack(&old, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_GT(alarms.load(), 0U);
}

bool spinning_units_end(weft_preemption kind) {
  SpinBarrier barrier(weft_worker_count() + 3);
  std::vector<weft_unit*> units(weft_worker_count() + 3);
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = kind;
  for (weft_unit*& unit : units)
    if (weft_unit_create([](void* place) { static_cast<SpinBarrier*>(place)->wait(); }, &barrier, &attr, &unit) != 0)
      return false;
  return weft_unit_free_many(units.size(), units.data()) == WEFT_OK;
}

TEST_P(Preempt, ForkedChildrenPreemptAnew) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(spinning_units_end(GetParam()));
    std::atomic<bool> over{false};
    Jobs jobs;
    jobs.start(preemptive(), [&] {
      while (!over.load(std::memory_order_relaxed)) {
      }
    });
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      _exit(spinning_units_end(GetParam()) ? 0 : 1);
    }
    over = true;
    jobs.join();
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

// All workers would sleep in the kernel, and the unit that they wait for would never run.
TEST_P(Preempt, BlockingCallsLeaveTheWorkerToOthers) {
  EXPECT_EQ(weft_blocking(nullptr, nullptr), WEFT_ERR_ARGUMENT);
  for (const bool is_preemptive : {false, true}) {
    for (int round = 0; round < 5; ++round) {
      Pipe pipe;
      Jobs jobs;
      std::atomic<unsigned> wrong{0};
      const unsigned readers = more_than_workers() + 3;
      for (unsigned number = 0; number < readers; ++number)
        jobs.start(is_preemptive ? preemptive() : with(WEFT_AUTO), [&, number] {
          errno = static_cast<int>(number);
          const int error = weft_blocking(
              [](void* argument) {
                auto& from = *static_cast<Pipe*>(argument);
                char byte = 0;
                if (read(from.ends[0], &byte, 1) == 1 && byte == 'x') ++from.bytes;
              },
              &pipe);
          if (error != WEFT_OK) ++wrong;
          weft_yield();
        });
      jobs.start(with(WEFT_AUTO), [&] {
        for (unsigned number = 0; number < readers; ++number) {
          if (write(pipe.ends[1], "x", 1) != 1) ++wrong;
          weft_yield();
        }
      });
      jobs.join();
      EXPECT_EQ(pipe.bytes.load(), readers);
      EXPECT_EQ(wrong.load(), 0U);
    }
  }
}

// [S] 4.3: analysis runs when nothing else does, and is put aside for what comes.
TEST_P(Preempt, LowPriorityIsPutAside) {
  weft_pool* pools[2] = {make_pool(WEFT_FIFO, WEFT_MPMC), make_pool(WEFT_LIFO, WEFT_MPMC)};
  ASSERT_EQ(weft_pool_set_preemption(pools[1], GetParam()), WEFT_OK);
  ASSERT_EQ(weft_preempt_timer(WEFT_TIMER_CHAIN, 200 * 1000), WEFT_OK);
  std::atomic<int> analysis_runs{0}, steps{0};
  {
    OwnWorker worker(WEFT_BY_PRIORITY, {pools[0], pools[1]});
    Jobs jobs;
    for (int number = 0; number < 3; ++number)
      jobs.start(with(WEFT_AUTO, pools[1]), [&] {
        ++analysis_runs;
        while (steps.load(std::memory_order_relaxed) < 20) {
        }
      });
    ASSERT_TRUE(eventually([&] { return analysis_runs.load() > 0; }));
    for (int step = 1; step <= 20; ++step) {
      jobs.start(with(WEFT_AUTO, pools[0]), [&] { ++steps; });
      ASSERT_TRUE(eventually([&] { return steps.load() == step; })) << "while an analysis computes";
    }
    jobs.join();
    worker.join();
  }
  EXPECT_EQ(analysis_runs.load(), 3);
}

// [S] 4.2, Algorithm 1: units of workers that are switched off go on on the others, and all get on.
TEST_P(Preempt, WorkersArePacked) {
  constexpr unsigned total = 4;
  weft_pool* pools[total];
  weft_scheduler* schedulers[total];
  weft_worker* workers[total];
  weft_packing* packing = nullptr;
  for (weft_pool*& pool : pools) pool = make_pool(WEFT_FIFO, WEFT_MPMC);
  EXPECT_EQ(weft_packing_create(0, pools, schedulers, &packing), WEFT_ERR_ARGUMENT);
  ASSERT_EQ(weft_packing_create(total, pools, schedulers, &packing), WEFT_OK);
  for (unsigned rank = 0; rank < total; ++rank) {
    ASSERT_EQ(weft_worker_create(schedulers[rank], &workers[rank]), WEFT_OK);
  }
  EXPECT_EQ(weft_packing_active(packing), total);
  EXPECT_EQ(weft_packing_set_active(packing, 0), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_packing_set_active(packing, total + 1), WEFT_ERR_ARGUMENT);
  for (const unsigned active : {1U, 2U, 3U, 4U}) {
    // A barrier that spins: nobody comes through it unless all are run in turn.
    SpinBarrier barrier(total * 2);
    std::atomic<unsigned> through{0}, astray{0};
    std::atomic<bool> packed{false};
    const std::uint64_t before = preemptions();
    Jobs jobs;
    for (unsigned number = 0; number < total * 2; ++number) {
      weft_unit_attr attr = preemptive();
      attr.pool = pools[number % total];
      jobs.start(attr, [&] {
        barrier.wait();
        while (!packed.load(std::memory_order_relaxed)) {
        }
        for (int round = 0; round < 3; ++round) {
          barrier.wait();
          weft_yield();
          unsigned rank = 0;
          while (rank < total && workers[rank] != weft_worker_self()) ++rank;
          if (round == 2 && rank >= active) ++astray;
        }
        ++through;
      });
    }
    ASSERT_TRUE(eventually([&] { return preemptions() > before; }));
    ASSERT_EQ(weft_packing_set_active(packing, active), WEFT_OK);
    packed = true;
    jobs.join();
    EXPECT_EQ(through.load(), total * 2);
    EXPECT_EQ(astray.load(), 0U) << active << " active";
  }
  ASSERT_EQ(weft_packing_set_active(packing, 2), WEFT_OK);
  EXPECT_EQ(weft_packing_free(packing), WEFT_ERR_STATE);
  for (unsigned rank = 0; rank < total; ++rank) {
    EXPECT_EQ(weft_worker_join(workers[rank]), WEFT_OK);
    EXPECT_EQ(weft_scheduler_free(schedulers[rank]), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pools[rank]), WEFT_OK);
  }
  EXPECT_EQ(weft_packing_free(packing), WEFT_OK);
}

// A KLT that a worker goes on with runs where that worker is bound to (Shiina et al., 3.3).
TEST_P(Preempt, KltsRunWhereTheirWorkerIsBound) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu = 0, cpus = 0; cpu < CPU_SETSIZE && cpus < 2; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    ++cpus;
    weft_pool* pool = make_pool();
    OwnWorker worker(WEFT_BASIC_WAIT, {pool});
    ASSERT_EQ(weft_worker_bind(worker.get(), cpu), WEFT_OK);
    const std::uint64_t before = weft_preemptions();
    std::atomic<unsigned> elsewhere{0};
    Jobs jobs;
    for (int unit = 0; unit < 4; ++unit) {
      weft_unit_attr attr = preemptive();
      attr.pool = pool;
      jobs.start(attr, [&] {
        // Until they have all been interrupted, and have come back, a few times.
        const std::uint64_t began = now_ns();
        while (weft_preemptions() - before < 16 && now_ns() - began < 60'000'000'000) {
          if (sched_getcpu() != cpu) ++elsewhere;
        }
      });
    }
    jobs.join();
    EXPECT_GE(weft_preemptions() - before, 16);
    EXPECT_EQ(elsewhere, 0);
  }
}

bool may_run_on(const cpu_set_t& cpus) {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_EQUAL(&mask, &cpus) != 0;
}

// Twice: what a thread has made before its turn came, of which the kernel may not have told. (Bug: the watchdog made a
// KLT meanwhile.)
void let_all_threads_run_on(const cpu_set_t& cpus) {
  for (int time = 0; time < 2; ++time)
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      EXPECT_TRUE(sched_setaffinity(std::stoi(task.path().filename()), sizeof cpus, &cpus) == 0 || errno == ESRCH);
}

/// The CPUs that there are, and each of two.
struct TwoCpus {
  cpu_set_t all;
  cpu_set_t only[2];
  int cpu[2];
  int found = 0;

  TwoCpus() {
    EXPECT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    for (int each = 0; each < CPU_SETSIZE && found < 2; ++each) {
      if (!CPU_ISSET(each, &all)) continue;
      CPU_ZERO(&only[found]);
      CPU_SET(each, &only[found]);
      cpu[found++] = each;
    }
  }
};

/// Units that are interrupted for a while, and `more` times after `meanwhile`, if there is that: then they may run on
/// `cpus` alone.
void spin_and_see(const weft_unit_attr& attr, const std::function<void()>& meanwhile, const cpu_set_t* cpus,
                  unsigned more = 16) {
  constexpr unsigned some = 16;
  std::atomic<std::uint64_t> limit{UINT64_MAX};
  std::atomic<unsigned> elsewhere{0};
  const std::uint64_t before = weft_preemptions();
  const std::uint64_t end = now_ns() + 60ULL * 1000 * 1000 * 1000;  // where nobody waits, nobody is preempted
  const auto is_late = [end] { return now_ns() >= end; };
  Jobs jobs;
  for (unsigned unit = 0; unit < weft_worker_count() + 5; ++unit)  // so that each worker has two
    jobs.start(attr, [&, unit] {
      if (unit == 0) {
        if (meanwhile != nullptr) {
          while (weft_preemptions() - before < some && !is_late()) {
          }
          meanwhile();
        }
        limit = weft_preemptions() + more;
      }
      while (limit == UINT64_MAX) {
      }
      while (weft_preemptions() < limit && !is_late())
        if (cpus != nullptr && !may_run_on(*cpus)) ++elsewhere;
    });
  jobs.join();
  EXPECT_EQ(elsewhere, 0);
  EXPECT_FALSE(is_late());
}

// Bug: the KLT that carried it was bound, and took that along to other workers.
TEST_P(Preempt, OneIsBoundWhileAnotherKltCarriesIt) {
  const TwoCpus cpus;
  if (cpus.found < 2) GTEST_SKIP() << "there is a single CPU";
  weft_unit_attr attr = preemptive();
  // Once more with a KLT that does not come back to the worker after it was bound.
  for (const unsigned more : {16U, 0U})
    for (const bool binds : {true, false}) {
      attr.pool = make_pool();
      OwnWorker worker(WEFT_BASIC_WAIT, {attr.pool});
      const auto bind = [&] {
        if (binds) {
          EXPECT_EQ(weft_worker_bind(worker.get(), cpus.cpu[1]), WEFT_OK);
        }
      };
      spin_and_see(attr, bind, binds ? &cpus.only[1] : &cpus.all, binds ? more : 16);
    }
}

// Bug: a KLT that had been bound, and was made to wake up elsewhere while its worker was not, was taken for bound where
// the worker was bound there once more before it was awake.
TEST_P(Preempt, IsBoundWhileAnotherKltIsAboutToCarryIt) {
  const TwoCpus cpus;
  if (cpus.found < 2) GTEST_SKIP() << "there is a single CPU";
  weft_unit_attr attr = preemptive();
  attr.pool = make_pool();
  OwnWorker worker(WEFT_BASIC_WAIT, {attr.pool});
  std::atomic<unsigned> changes{0};  // odd: it is being bound
  std::atomic<const cpu_set_t*> bound{&cpus.all};
  std::atomic<unsigned> elsewhere{0};
  std::atomic<bool> over{false};
  Jobs jobs;
  for (int unit = 0; unit < 6; ++unit)
    jobs.start(attr, [&, unit] {
      while (!over) {
        if (unit % 2 == 0) {
          EXPECT_EQ(weft_blocking([](void*) { usleep(300); }, nullptr), WEFT_OK);
        }
        const unsigned before = changes;
        const bool there = may_run_on(*bound);
        if (before % 2 == 0 && changes == before && !there) ++elsewhere;
      }
    });
  for (int change = 0; change < 1000; ++change) {
    const int next = change % 2 == 0 ? change / 2 % 2 : -1;
    ++changes;
    EXPECT_EQ(weft_worker_bind(worker.get(), next < 0 ? -1 : cpus.cpu[next]), WEFT_OK);
    bound = next < 0 ? &cpus.all : &cpus.only[next];
    ++changes;
    usleep(change % 7 * 300);
  }
  over = true;
  jobs.join();
  EXPECT_EQ(elsewhere, 0);
}

// The workers that units run on which spin for a second, two for each worker. Other threads want the CPUs, too.
std::ptrdiff_t workers_of_spinners(const weft_unit_attr& attr) {
  std::array<std::atomic<bool>, 1024> ran{};
  const std::uint64_t end = now_ns() + 1000ULL * 1000 * 1000;
  std::array<std::thread, 16> others;
  for (std::thread& other : others)
    other = std::thread([end] {
      while (now_ns() < end) {
      }
    });
  Jobs jobs;
  for (unsigned number = 0; number < 2 * weft_worker_count(); ++number)
    jobs.start(attr, [&] {
      while (now_ns() < end) ran.at(weft_worker_index(weft_worker_self())).store(true, std::memory_order_relaxed);
    });
  jobs.join();
  for (std::thread& other : others) other.join();
  return std::count(ran.begin(), ran.end(), true);
}

// Bug: where a KLT that was to go on with a worker had to wait for a CPU, another worker stood in, for the one that
// slept; and one more for each KLT that had no tick while it waited for a CPU. (One that really sleeps, for the
// kernel's lock of the address space, say, and then waits for a CPU, is stood in for. Few do.)
TEST_P(Preempt, NobodyStandsInWhereCpusAreFew) {
  std::ptrdiff_t workers = PTRDIFF_MAX;
  for (int attempt = 0; attempt < 6 && workers > weft_worker_count(); ++attempt) {
    usleep(10 * 1000);  // so that who has stood in rests again
    workers = workers_of_spinners(preemptive());
  }
  EXPECT_LE(workers, weft_worker_count());
}

// Bug: the KLT that had lent it came back unbound.
TEST_P(Preempt, ARootIsBoundWhileItLendsItsWorker) {
  const TwoCpus cpus;
  if (cpus.found < 2) GTEST_SKIP() << "there is a single CPU";
  weft_worker* worker = weft_worker_self();
  for (const bool binds : {true, false}) {
    const auto bind = [&] { EXPECT_EQ(weft_worker_bind(worker, binds ? cpus.cpu[1] : -1), WEFT_OK); };
    spin_and_see(preemptive(), bind, nullptr);
    EXPECT_TRUE(may_run_on(binds ? cpus.only[1] : cpus.all));
  }
}

// Bug: a KLT that had been bound, and went to a worker that is not, could run again where the process began; and later
// still one that had carried a worker when that was bound, and had not come back to it since.
TEST_P(Preempt, WhereOthersHaveSaidThatAllThreadsRunHolds) {
  const TwoCpus cpus;
  if (cpus.found < 2) GTEST_SKIP() << "there is a single CPU";
  weft_unit_attr attr = preemptive();
  for (const unsigned more : {16U, 0U}) {
    {
      attr.pool = make_pool();
      OwnWorker worker(WEFT_BASIC_WAIT, {attr.pool});
      const auto bind = [&] { EXPECT_EQ(weft_worker_bind(worker.get(), cpus.cpu[1]), WEFT_OK); };
      spin_and_see(attr, bind, &cpus.only[1], more);
    }
    let_all_threads_run_on(cpus.only[0]);
    {
      attr.pool = make_pool();
      OwnWorker worker(WEFT_BASIC_WAIT, {attr.pool});
      spin_and_see(attr, nullptr, &cpus.only[0]);
    }
    let_all_threads_run_on(cpus.all);
  }
}

// Units that spin until there have been some preemptions, on one worker: there must be some for it where spare workers
// have come to others of them. Who lends the worker sleeps, and until the other kernel thread has a CPU the watchdog
// has one stand in. (Bug: there were two, and then nobody to take turns with, for ever.)
constexpr unsigned more_than_spares = 12;

std::atomic<unsigned> times_forked{0};
void fork_a_child(int) {
  const int kept = errno;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  errno = kept;
  ++times_forked;
}

// Bug: a fork() in a handler on the KLT of a root, which sleeps while another one carries its worker, held off whatever
// ran there, and let go of what ran there then.
TEST_P(Preempt, AForkWhereTheWorkerIsLentHoldsOffNoUnit) {
  if (GetParam() != WEFT_PREEMPT_KLT_SWITCH) return;
  if (weft_worker_count() != 1) GTEST_SKIP() << "the root's worker shall run all units";
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = fork_a_child;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  times_forked = 0;
  std::atomic<bool> over{false};
  std::atomic<unsigned> wrong{0};
  Jobs jobs;
  for (unsigned unit = 0; unit < more_than_spares; ++unit)
    jobs.start(preemptive(), [&] {
      while (!over.load(std::memory_order_relaxed)) asm volatile("");
      if (weft_preempt_enable() != WEFT_ERR_STATE) ++wrong;
    });
  std::thread sender([&, root = pthread_self()] {
    while (preemptions() < 16) usleep(100);  // so it is lent by now
    for (unsigned round = 1; round <= 50; ++round) {
      pthread_kill(root, SIGUSR1);
      while (times_forked < round) usleep(100);
    }
    over = true;
  });
  jobs.join();
  sender.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

// The program's scheduler: runs a unit of its pool, or counts that there was none, and leaves the rest to weft's.
void run_one_of_pool(weft_scheduler* scheduler, void* missed) {
  weft_pool* pool = nullptr;
  weft_unit* unit = nullptr;
  const bool found =
      weft_scheduler_pool(scheduler, 0, &pool) == WEFT_OK && weft_pool_pop(pool, &unit) == WEFT_OK && unit != nullptr;
  if (found)
    weft_unit_run(unit);
  else
    ++*static_cast<std::atomic<unsigned>*>(missed);
  weft_worker_set_scheduler(weft_worker_self(), nullptr);
}

// Bug: when a unit that kept its KLT had given its worker a scheduler of the program's, and yielded, a unit was taken
// out of that one's pool behind its back, and was not run before it returned.
TEST_P(Preempt, TheProgramsSchedulerFindsWhatIsInItsPool) {
  if (GetParam() != WEFT_PREEMPT_KLT_SWITCH) GTEST_SKIP() << "with signal-yield no unit keeps a KLT";
  if (weft_worker_count() != 1) GTEST_SKIP() << "the root's worker shall run all units";
  for (unsigned round = 1; round <= 20; ++round) {
    weft_pool* pool = make_pool();
    std::atomic<unsigned> missed{0};
    std::atomic<unsigned> wrong{0};
    std::atomic<bool> over{false};
    weft_scheduler* scheduler = nullptr;
    ASSERT_EQ(weft_scheduler_create_custom(run_one_of_pool, &missed, 1, 1, &pool, &scheduler), WEFT_OK);
    const std::uint64_t before = preemptions();
    Jobs jobs;
    jobs.start(with(WEFT_FULL, pool), [] {});
    for (unsigned unit = 0; unit < more_than_spares; ++unit)
      jobs.start(preemptive(), [&] {
        while (!over.load(std::memory_order_relaxed)) asm volatile("");
      });
    jobs.start(preemptive(), [&] {
      while (preemptions() - before < 1 + round)
        for (int turn = 0; turn < 10'000; ++turn) asm volatile("");  // in weft it is not preempted
      while (weft_worker_set_scheduler(weft_worker_self(), scheduler) != WEFT_OK) {
      }
      if (weft_yield() != WEFT_OK) ++wrong;
      over = true;
    });
    jobs.join();
    EXPECT_EQ(missed.load(), 0U) << "in round " << round;
    EXPECT_EQ(wrong.load(), 0U);
    EXPECT_EQ(weft_scheduler_free(scheduler), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
  }
}

// With each kind of timer: a signal would cut the sleeps short. (Bug: a worker's timer started anew each time it woke
// up, whatever it ran.)
TEST_P(Preempt, PlainUnitsAreLeftAloneAfterwards) {
  for (const weft_timer timer : {WEFT_TIMER_CREATION, WEFT_TIMER_ALIGNED, WEFT_TIMER_ONE_TO_ALL, WEFT_TIMER_CHAIN}) {
    ASSERT_EQ(weft_preempt_timer(timer, slice_ns), WEFT_OK);
    Jobs preempted;
    preempted.start(preemptive(), [] {});
    preempted.join();
    Jobs jobs;
    unsigned undisturbed = 0;
    jobs.start(with(WEFT_AUTO), [&] {
      for (int round = 0; round < 2000 && undisturbed < 50; ++round) {
        const timespec longer_than_a_slice{0, 2 * static_cast<long>(slice_ns)};
        undisturbed = nanosleep(&longer_than_a_slice, nullptr) == 0 ? undisturbed + 1 : 0;
        weft_sleep(100 * 1000);
      }
    });
    jobs.join();
    EXPECT_EQ(undisturbed, 50) << "timer " << timer;
  }
}

// An idle process has no timers that run.
TEST_P(Preempt, NothingTicksWhereNothingRuns) {
  ASSERT_TRUE(spinning_units_end(GetParam()));
  const auto used = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
  };
  // The last tick of a timer finds this thread in its own code, and would cut usleep() short.
  const auto sleep_for = [](std::uint64_t nanoseconds) {
    const std::uint64_t end = now_ns() + nanoseconds;
    const timespec until{static_cast<time_t>(end / 1000000000ULL), static_cast<long>(end % 1000000000ULL)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  };
  sleep_for(200 * 1000 * 1000);
  // What goes on for ever goes on in each window; on a busy machine something ends late now and then.
  constexpr long most = 2 * 1000 * 1000;
  long used_when_idle = most;
  for (int window = 0; window < 10 && used_when_idle >= most; ++window) {
    const long before = used();
    sleep_for(300 * 1000 * 1000);
    used_when_idle = used() - before;
  }
  EXPECT_LT(used_when_idle, most);
}

}  // namespace
}  // namespace weft::test
