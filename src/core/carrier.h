// KLTs that carry now this worker, now that: how such a one sleeps until it is called, takes a worker over and gives it
// away, and which CPU it runs on. The argument stands at the head of carrier.cpp; a model of the hand-over is
// tests/models/klt_switch.pml.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/relaxed.h"
#include "core/technique/start.h"
#include "core/unit.h"
#include "core/worker.h"
#include "os/barrier.h"
#include "os/cpu_set.h"
#include "os/interrupt.h"
#include "os/ticker.h"

namespace weft::core {

struct Lent;

/// A KLT that carries now this worker, now that. It is never given back.
struct Klt {
  enum Word : std::uint32_t { made, asleep, called };
  std::atomic<std::uint32_t> word{made};  // what it sleeps on
  std::atomic<bool> begun{false};         // it has come into the global pool, for the first time
  std::atomic<bool> suspended{false};     // by sigsuspend, or about to
  int id = 0;                             // the kernel's number
  static constexpr int not_known = -2;
  base::Relaxed<int> cpu{-1};  // that weft has bound it to; -1: none
  int moved_to = -1;           // it was to wake up on that CPU, and may run on:
  os::CpuSet cpus;
  void* thread_pointer = nullptr;  // the one that it began with
  void* context = nullptr;         // of its own loop, while it carries a worker
  Worker* worker = nullptr;        // that it carries, or shall carry
  Lent* begins = nullptr;          // the scheduler that it shall begin; nullptr: it goes on
  Event event = Event::yielded;    // with that, about the unit that was left
  os::WordAwaited awaited;         // what the unit that holds it sleeps for
  Unit* left = nullptr;            // was left for the one that it holds: to be shown
  Klt* next = nullptr;             // in a pool
  os::Ticker ticker;
};

/// What a Klt does from its start on, for pthread_create(3): it comes into the global pool, and carries workers.
void* begin_carrying(void* klt);

/// By whoever carries the worker, and is about to sleep: the other one carries it from now on.
void hand_over(Worker& worker, Klt& klt);

/// Of a unit that keeps the KLT: sleeps until that is to go on with it, and carries a worker then.
void sleep_until_resumed(Klt& self);

/// Whoever carries the worker runs on this CPU only, now and later; -1: on those that the process had at the start.
/// False: there is no such CPU, or nobody carries the worker yet.
bool bind_worker(Worker& worker, int cpu);

/// Who carries the worker has said so, and is bound to `bound_to`. bind_worker() may say another CPU at any time; it
/// looks afterwards who carries the worker, as here it is looked once more what it has said.
template <class Bind>
void bind_until_it_holds(const Worker& worker, int bound_to, Bind bind) {
  os::light_fence();
  for (int cpu = 0; (cpu = worker.cpu.load(std::memory_order_relaxed)) != bound_to; bound_to = cpu) bind(cpu);
}

/// The worker's timer: that of the KLT which carries it.
os::Ticker& ticker_of(Worker& worker);

}  // namespace weft::core
