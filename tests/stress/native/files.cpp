#include "files.h"

#include "check.h"
#include "job.h"

#include <weft/io.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace native {
namespace {

void expect_no_numbers() { MUST(errno == EMFILE || errno == ENFILE); }

void open_pipe(Random& random, int* ends) {
  if (pipe2(ends, O_CLOEXEC) != 0) return expect_no_numbers();
  // A user may have only so many pages in pipes; then they are small by themselves.
  if (random.one_in(2)) (void)fcntl(ends[1], F_SETPIPE_SZ, 4096);
}

void open_sockets(Random& random, int* ends) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return expect_no_numbers();
  const int room = 4096;
  if (random.one_in(2)) SAME(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
}

}  // namespace

FilePair::FilePair(Random& random) : sockets(random.one_in(2)) {
  int ends[2] = {-1, -1};
  sockets ? open_sockets(random, ends) : open_pipe(random, ends);
  reader = ends[0];
  writer = ends[1];
  if (!is_open()) return;
  for (const int end : ends)
    if (random.one_in(4)) SAME(fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK), 0);
}

FilePair::~FilePair() {
  if (!is_open()) return;
  close(reader);
  if (writer >= 0) close(writer);
}

void FilePair::close_writer() {
  SAME(close(writer), 0);
  writer = -1;
}

std::size_t read_some(Actor& actor, int file, std::uint8_t* to, std::size_t size) {
  size_t count = 0;
  if (actor.random.one_in(3)) {
    std::uint64_t limit = actor.random.below(200'000);
    while (!IN_TIME(limit, weft_timed_read(file, to, size, limit, &count))) limit = longer(limit);
  } else {
    OK(weft_read(file, to, size, &count));
  }
  MUST(count <= size);
  return count;
}

}  // namespace native
