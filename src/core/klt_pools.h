// Klts (carrier.h) that wait to be used: each worker's own, which have carried it and are near its CPU (3.3), and those
// for all. And where they come from: there are as many as were ever needed at a time.
#pragma once

#include "core/carrier.h"

namespace weft::core {

/// One that waits to be used; not in a handler. nullptr: there is none, and none can be had.
Klt* get_klt(Worker& worker);

/// The same in a handler, which cannot make any, and must not wait for whoever makes it.
Klt* take_from_pools(Worker& worker);

/// In a handler that has found none: the watchdog makes one.
void want_klt();

/// By the KLT itself, which carries the worker still.
void put_into_pool(Worker& worker, Klt& klt);
/// By one that has just begun.
void put_new_into_pool(Klt& klt);

/// From the watchdog's loop: makes the KLTs that handlers have asked for.
void make_wanted_klts();

/// How many there are, and how many of them wait to be used.
struct KltCount {
  unsigned made;
  unsigned free;
};
KltCount count_klts();

/// The worker ends: those that wait for it are for all.
void leave_klts_to_others(Worker& worker);

/// In a forked child.
void reset_klts();

}  // namespace weft::core
