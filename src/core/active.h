// Workers that are switched off and on at run time. Those of weft's own have ranks, in the order in which they were
// started; the program's threads (roots) stand before them, and count as one. With n active workers those of rank n and
// above are off. Thread packings (core/own_scheduler.h) follow, where somebody asks for so many. The argument stands at
// the head of active.cpp.
#pragma once

#include <cstdint>

#include "core/worker.h"

namespace weft::core {

struct Packing;

/// From now on so many workers run units, from 1 on; the others stop at their next scheduling point. Any KLT, any time,
/// also the handler of a signal.
void set_active_workers(unsigned active);
/// As many as there are by themselves.
void activate_all_workers();
/// So many CPUs are there now: as many workers run units, or fewer if that was asked for, and there are as many at
/// least. Any KLT, no handler; nobody has fixed their number.
void use_cpus(unsigned cpus);
/// In the child of a fork: nobody has asked for anything.
void forget_active_workers();

struct ActiveWorkers {
  unsigned workers;   // that there are, or would be if there were work for them
  unsigned active;    // of these
  unsigned stopping;  // of those that are off: run something still
  unsigned packings;
};
ActiveWorkers count_active_workers();

bool is_switched_off(const Worker& worker);

/// A worker that is off: sleeps until it is on again, or somebody joins it.
void rest_while_off(Worker& worker);
/// Wakes it from that.
bool wake_switched_off(Worker& worker);

/// Of a worker whose KLT is about to be started; 0: it is never switched off.
void set_rank(Worker& worker, unsigned rank);

/// The calling worker has been given a scheduler, or has lost it: with one of its own it is not switched off.
void mark_again(Worker& worker);

/// A packing exists from now on, or no longer.
void note_packing(Packing& packing);
void forget_packing(const Packing& packing);

/// Commands of other processes are obeyed from now on (os/control.h), unless WEFT_CTL=off.
void obey_commands();

}  // namespace weft::core
