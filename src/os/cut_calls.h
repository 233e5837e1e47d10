// System calls that the kernel does not make anew when a handler has run, though that has SA_RESTART: those that wait
// for a given time, that poll, or that wait for System V's semaphores and messages (signal(7)). What weft's signal has
// cut short, weft's handler makes anew. And those that have transferred a part: they return how much that was, and the
// handler has the rest transferred.
//
// Which call it was, the kernel does not say. It is known where the instruction lies in libc's function of that name.
// All others return EINTR, or a part, and so does what cannot be made anew as it was:
//
//   poll, epoll_wait, semtimedop with a time limit   how much of it is left is not known
//   ppoll, pselect with a mask, epoll_pwait          a handler of the program's that comes now is to end them
//   sem_timedwait, futex(2) with a time limit        libc makes the call in a function that has no name for others
//   pause                                            the same as with a mask
//   writev, sendmsg, sendfile                        what is left is told by memory of the program's
//
// select() and ppoll() have noted what is left of their time, and so has clock_nanosleep() where its caller wants to
// know; what passes until the code goes on is taken off. Where he does not, it sleeps for the time asked for once more,
// from weft's signal on: longer by what had passed before, which is mostly less than what lies between two signals.
// From then on the end is known.
//
// The rest is transferred by code of weft's (arch::transfer_rest), which returns to libc's. It counts as libc's here:
// it sleeps, and is left, as that would.
#pragma once

#include <cstdint>
#include <ctime>
#include <ucontext.h>

#include "os/exported_function.h"

namespace weft::os {

/// Where these functions are, from one of libc's that is known. While the library is loaded.
void look_up_calls_that_are_cut(const ExportedFunction& of_libc);

/// One that was cut short by the signal whose handler asks, at its begin; or none.
struct CutCall {
  long number = -1;      // -1: none, or it is not made anew
  bool is_part = false;  // of a transfer
  bool has_end = false;  // of a sleep that weft makes anew, or has made anew and that comes next, without
  timespec end{};
  timespec* left = nullptr;  // how much time is left, as the call has noted it
  timespec noted{};          // when that was, by
  clockid_t clock = CLOCK_MONOTONIC;
};
CutCall cut_call_of(const ucontext_t& interrupted);

/// At the handler's end, on the KLT on which the code goes on: the call comes next.
void make_anew(const CutCall& cut, ucontext_t& interrupted);

}  // namespace weft::os
