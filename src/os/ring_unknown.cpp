// Built where liburing is missing: there is no ring.
#include "os/ring.h"

namespace weft::os {

bool ring_open() { return false; }
void ring_abandon() {}
RingTime ring_time(std::uint64_t) { return {}; }
void ring_read(int, void*, std::size_t, void*) {}
void ring_write(int, const void*, std::size_t, void*) {}
void ring_accept(int, sockaddr*, socklen_t*, int, void*) {}
void ring_connect(int, const sockaddr*, socklen_t, void*) {}
void ring_poll(int, short, void*) {}
void ring_timeout(RingTime*, void*) {}
void ring_cancel(void*) {}
unsigned ring_wait(RingResult*, unsigned) { return 0; }
bool ring_wake() { return false; }

}  // namespace weft::os
