// Waiting until KLTs that end have destroyed what is thread-local to them.
//
// libc destroys a thread's objects first, and then calls the destructors of its keys, in rounds: another one as long as
// some key has a value again, and PTHREAD_DESTRUCTOR_ITERATIONS at most. A key here has one in each of these rounds,
// and in the last one says that the KLT has ended, so that those of all other keys have been called before.
//
// Rejected: pthread_join(3). What a destructor does is the program's: it may wait for something that who waits here
// holds, and both would for ever. So waiting is given up when nobody has ended for long. Then the last of the KLTs
// frees the count, or else who has waited.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::os {

/// Those whose end somebody waits for.
struct AwaitedEnds {
  std::atomic<std::uint32_t> left{0};     // have not ended; who waits sleeps on it
  std::atomic<std::uint32_t> holders{1};  // these, and who waits
};

/// Before the first KLT of weft's is started.
void make_key_of_ends();

/// Of nobody so far; nullptr, with which all of these do nothing: no memory, or no key.
AwaitedEnds* begin_awaiting_ends();

/// One more. By who tells it to end, or by the KLT itself, before wait_for_ends() is called.
void await_one_more(AwaitedEnds* ends);
/// That one is the caller, and returns from its entry.
void end_as_awaited(AwaitedEnds* ends);

/// Waits for them, but not for ever where one of them may be waiting for the caller. Once, with no lock of weft's held,
/// which a destructor may need.
void wait_for_ends(AwaitedEnds* ends);

}  // namespace weft::os
