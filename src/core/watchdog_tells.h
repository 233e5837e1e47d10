// What the watchdog says on standard error, each once: that something does not go as it should.
#pragma once

namespace weft::core {

/// /proc does not say what threads are at.
void tell_of_proc();

/// A signal could not be sent, or a timer not be made; `error`: of errno. Only of EAGAIN there is something to tell.
void tell_of_signals(int error);

/// There is no signal to interrupt with.
void tell_of_handlers();

/// What has been refused elsewhere, where nothing can be said.
void tell_what_others_found();

}  // namespace weft::core
