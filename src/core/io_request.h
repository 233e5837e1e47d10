// What a unit waits for in the kernel, and who serves it there.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <poll.h>
#include <sys/socket.h>

#include "core/timer.h"
#include "os/io.h"
#include "os/ring.h"

namespace weft::core {

struct IoRequest;
struct Unit;

/// What the ring is asked for, under this address.
struct IoToken {
  IoRequest* request = nullptr;
  int result = 0;
  bool done = false;
};

enum class IoKind : std::uint8_t { read, write, accept, connect, poll };

/// Lies on the stack of the unit, which is suspended until it is served: from then on nobody looks at it.
struct IoRequest {
  IoKind kind = IoKind::read;
  int file = -1;
  os::FileIdentity identity;  // of the file, where another may have got its number since; else empty
  int flags = 0;
  void* address = nullptr;  // memory to read into or write from, or a socket's address
  std::size_t size = 0;
  socklen_t* address_size = nullptr;
  pollfd* files = nullptr;
  std::size_t file_count = 0;
  std::uint64_t deadline = never;
  bool by_klts = false;  // also where there is a ring, which could not break it off, or whose KLT would wait itself

  // The answer: as of the system call, and whether the deadline came before.
  long result = 0;
  bool timed_out = false;
  bool refused = false;  // nobody serves it: the ring is lost, and no KLT can be had

  Unit* unit = nullptr;
  IoRequest* next = nullptr;

  // The ring's.
  IoToken own;
  IoToken of_deadline;
  IoToken* of_files = nullptr;  // one for each file to poll, if there is more than one
  os::RingTime time{};
  std::size_t pending = 0;
  bool over = false;
};

/// Before a number is used again: false, the file was closed, and another has the number. Nothing is known of the empty
/// identity.
inline bool is_still(int file, const os::FileIdentity& identity) {
  return identity == os::FileIdentity{} || os::identity_of(file) == identity;
}

/// Before its file is used. True: it is another's number by now, and the request is answered so.
inline bool has_lost_its_file(IoRequest& request) {
  if (is_still(request.file, request.identity)) return false;
  request.result = -EBADF;
  return true;
}

/// What to poll for to read or accept: also whether the socket has been shut down, so that nothing more comes.
inline constexpr short to_read = POLLIN | POLLRDHUP;
inline bool says_end(const pollfd& file) { return (file.revents & POLLRDHUP) != 0; }

/// Between looks at a file of which the kernel tells nobody when it is ready, or says that it is when it is not.
class Pauses {
 public:
  void begin_anew() { next_ns_ = shortest_ns; }
  /// When the next one is over that begins now, at the deadline at the latest.
  std::uint64_t end_of_next(std::uint64_t now, std::uint64_t deadline) {
    const std::uint64_t end = std::min(now + next_ns_, deadline);
    next_ns_ = std::min(2 * next_ns_, longest_ns);
    return end;
  }

 private:
  static constexpr std::uint64_t shortest_ns = 1000ULL * 1000;
  static constexpr std::uint64_t longest_ns = 32 * shortest_ns;
  std::uint64_t next_ns_ = shortest_ns;
};

/// Serves requests until the process ends, on the KLT that calls it, which has opened the ring.
[[noreturn]] void serve_by_ring();
/// Any KLT. The unit has announced that it will suspend, and does so next. False: the ring's KLT can be woken no more,
/// others serve the request, and further ones shall be asked of them.
bool ask_ring(IoRequest& request);

/// The same by KLTs that wait in system calls. False: there is none, and none can be had; nothing has happened.
bool ask_klts(IoRequest& request);

/// It is served, or nobody serves it: its unit goes on. Any KLT.
void finish(IoRequest& request);
void refuse(IoRequest& request);

/// In a forked child.
void reset_io_ring();
void reset_io_klts();

}  // namespace weft::core
