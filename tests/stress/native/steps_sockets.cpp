// Servers and clients: who connects is accepted, and answered. A forked child (steps_fork.cpp) has the same sockets for
// a while.
#include "check.h"
#include "files.h"
#include "step.h"

#include <weft/io.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace native {
namespace {

union Address {
  sockaddr any;
  sockaddr_un local;
  sockaddr_in internet;
};

// With a name that the system chooses.
struct Listener {
  explicit Listener(Random& random);
  ~Listener() {
    if (file >= 0) close(file);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int new_socket() const { return socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0); }

  Address address{};
  socklen_t size = sizeof address;
  int file = -1;
  unsigned clients;
};

Listener::Listener(Random& random) : clients(random.between(1, 5)) {
  const bool local = random.one_in(2);
  address.any.sa_family = local ? AF_UNIX : AF_INET;
  if (!local) address.internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  file = new_socket();
  if (file < 0) return;
  SAME(bind(file, &address.any, local ? sizeof(sa_family_t) : sizeof address.internet), 0);
  SAME(listen(file, static_cast<int>(random.between(1, 4))), 0);
  SAME(getsockname(file, &address.any, &size), 0);
}

void send_number(int connection, unsigned number) {
  size_t count = 0;
  OK(weft_write(connection, &number, sizeof number, &count));
  SAME(count, sizeof number);
}

// False: the other end is closed.
bool receive_number(Actor& actor, int connection, unsigned& number) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&number);
  for (size_t read = 0; read < sizeof number;) {
    const size_t count = read_some(actor, connection, bytes + read, sizeof number - read);
    if (count == 0) return false;
    read += count;
  }
  return true;
}

int accept_one(Actor& actor, const Listener& listener) {
  int connection = -1;
  if (actor.random.one_in(2)) {
    OK(weft_accept(listener.file, nullptr, nullptr, SOCK_CLOEXEC, &connection));
    return connection;
  }
  std::uint64_t limit = actor.random.below(100'000);
  while (!IN_TIME(limit, weft_timed_accept(listener.file, nullptr, nullptr, SOCK_CLOEXEC, limit, &connection)))
    limit = longer(limit);
  return connection;
}

// A client whose time was over may have come to be connected all the same, and is gone.
void serve_clients(Actor& actor, const Listener& listener) {
  for (unsigned served = 0; served < listener.clients;) {
    const int connection = accept_one(actor, listener);
    MUST(connection >= 0);
    unsigned number = 0;
    if (receive_number(actor, connection, number)) {
      send_number(connection, number + 1);
      ++served;
    }
    SAME(close(connection), 0);
  }
}

int connect_somehow(Actor& actor, const Listener& listener) {
  for (std::uint64_t limit = actor.random.below(200'000);; limit = longer(limit)) {
    const int connection = listener.new_socket();
    if (connection < 0) return -1;
    if (actor.random.one_in(2)) {
      OK(weft_connect(connection, &listener.address.any, listener.size));
      return connection;
    }
    if (IN_TIME(limit, weft_timed_connect(connection, &listener.address.any, listener.size, limit))) return connection;
    SAME(close(connection), 0);
  }
}

void be_client(Actor& actor) {
  const auto& listener = shared_of<Listener>(actor);
  const int connection = connect_somehow(actor, listener);
  MUST(connection >= 0);
  dwell(actor);
  const unsigned number = actor.random.below(1000);
  send_number(connection, number);
  unsigned answer = 0;
  MUST(receive_number(actor, connection, answer));
  SAME(answer, number + 1);
  SAME(close(connection), 0);
}

}  // namespace

void serve(Actor& actor) {
  Listener listener(actor.random);
  if (listener.file < 0) return;
  Team team(actor, {.body = be_client, .shared = &listener, .waits = true});
  team.create(listener.clients);
  serve_clients(actor, listener);
  team.end();
}

}  // namespace native
