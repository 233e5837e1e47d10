// One thing that an actor does, drawn from a table: by itself, with what the program shares, or with a team of its own.
#pragma once

#include "job.h"

#include <string>

namespace native {

using StepFunction = void(Actor& actor);

// By itself, and with what all share: steps_alone.cpp.
StepFunction compute, yield, sleep, block, look, be_switched_off, use_mutexes, use_rwlock, use_semaphore, use_key,
    migrate;
// Units that the actor creates: steps_units.cpp.
StepFunction create_units, create_unjoined, cancel_units, spin_together, drain_pool;
// Units that wait for each other: steps_meet.cpp.
StepFunction meet_at_barrier, pass_through_buffer, wait_for_once, resume_in_ring, join_one;
// Pools and workers of the actor's own: steps_places.cpp.
StepFunction open_place, open_private_place, produce_alone, change_scheduler, push_scheduler, pack_threads, add_worker,
    start_root;

// Files: steps_io.cpp; sockets: steps_sockets.cpp.
StepFunction use_file, pass_stream, share_file, poll_files, shut_down;
StepFunction serve;
// Units that sleep in the kernel, or poll: steps_kernel.cpp.
StepFunction block_for_another, sleep_for_another, poll_in_turn;
// Children of the process: steps_fork.cpp.
StepFunction fork_child, fork_in_units;
// Exceptions: steps_throw.cpp.
StepFunction throw_exceptions;

/// The destructor of the program's keys.
void destroy_value(void* value);

/// A few steps of all that the actor can do; or of those that need only what its ground says of creating units.
void do_steps(Actor& actor, unsigned count);
void do_steps_here(Actor& actor, unsigned count);

/// The body of a unit that is free to do anything.
void do_anything(Actor& actor);

/// Something that takes a moment, within a critical section say; it may wait.
void dwell(Actor& actor);

/// Names of steps that are done, or are not, with commas between them. False: there is no such step.
bool choose_steps(const std::string& names, bool only);

}  // namespace native
