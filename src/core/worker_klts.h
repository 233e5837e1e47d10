// KLTs of weft's, each of which carries a worker from its start to its end: those that there are by themselves, as many
// as workers are wanted, and those that the program starts. (Spares: spares.h. KLTs that carry this worker and that:
// carrier.h.)
#pragma once

#include "core/runtime.h"
#include "core/worker.h"

namespace weft::core {

class Scheduler;

/// Starts one more KLT if fewer run than are wanted. False if none was started.
bool start_another_klt();

/// Ends the KLT of a worker of weft's, once it finds nothing to run; `release` is called before others can have its
/// slot. `awaited`: the KLT, if it ends and does not become a lender, is one of these. See core/give_back.cpp.
void end_klt(Worker& worker, void (*release)(Worker&, os::AwaitedEnds*), os::AwaitedEnds* awaited);

/// A worker of the program's own, on a KLT of its own, with that scheduler; nullptr: none can be had.
Worker* start_worker(Scheduler* scheduler);
/// Waits until it has nothing left to do, and ends it and its KLT.
void join_worker(Worker& worker);

/// Has a new KLT carry the worker; an error of pthread_create(3).
int start_carrying(Worker& worker, WorkerUse use);

/// What its worker has ready goes where others take it from.
void leave_units_to_others(Worker& worker);

/// In a forked child: there are none.
void reset_worker_klts();

}  // namespace weft::core
