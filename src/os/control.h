// Commands from another process: a queued signal whose value says what is wanted, and an answer by datagram.
//
// The signal is SIGURG, which the kernel ignores where nobody has a handler: a command to a process that has none does
// no harm. It is best sent to one of weft's own KLTs, which take it (rt_tgsigqueueinfo(2)): sent to the process it
// comes to the main thread, whose sleep() it cuts short. Who may send it the kernel decides (kill(2): the same user, or
// root). The answer goes to the asker's socket in the abstract namespace, "weft-ctl/PID", and carries the kernel's word
// on who sent it; nothing is left behind in any folder.
#pragma once

#include <cstddef>
#include <sys/types.h>

namespace weft::os {

/// `asked` runs in the signal's handler. False: the program has a handler for it, or ignores it.
bool install_control(void (*asked)(int value, pid_t asker));

/// Whether that was done: KLTs that are started from then on are to take the signal.
bool takes_commands();

/// From that handler. Nobody waits for it to be read.
void answer_control(pid_t asker, const char* text, std::size_t size);

}  // namespace weft::os
