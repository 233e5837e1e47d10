// Programs built with ThreadSanitizer. Its runtime knows a thread by its thread-local storage, so that members, each
// with an identity of its own, are threads to it (records.h); what it takes besides is settled here.
//
//   - A member runs on a stack that belongs to its thread: memory that one thread after the other used, with nothing
//     between that orders them, would be a race to it.
//   - Nor are blocks kept for tasks (blocks.h): that memory is freed, and taken again, is said by malloc and free.
//   - Members are not interrupted (core/watchdog.h): they may be inside of ThreadSanitizer's runtime, with its locks
//     held.
#pragma once

namespace weft::core {
struct Stack;
}

namespace weft::openmp {
struct Team;
}

namespace weft::openmp::ompt {

/// The process has ThreadSanitizer's runtime.
bool program_is_thread_sanitized();

/// A tool has been started.
void adapt_to_sanitized_program();

/// Members run on stacks of their threads: Team::own_stacks. Called for a team that is opened.
bool members_have_stacks();

/// The stack of the member with that number.
core::Stack* stack_for(Team& team, unsigned number);

}  // namespace weft::openmp::ompt
