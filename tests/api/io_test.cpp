// Input and output for units (weft/io.h): results, errors, limits, many units on few workers, fork. The whole binary
// runs with an io_uring and, with WEFT_IO=klts, with threads.
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "io_support.h"
#include <weft/io.h>
#include <weft/io.hpp>
#include <weft/weft.hpp>

namespace weft::test {
namespace {

class IoTest : public ApiTest {};

/// A TCP socket of this machine that listens.
struct Listener {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  Listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd, 128), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(fd); }
  const sockaddr* at() const { return reinterpret_cast<const sockaddr*>(&address); }
};

std::uint64_t now() { return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

TEST_F(IoTest, AUnitReadsWhatAnotherWrites) {
  Pipe pipe;
  Jobs jobs;
  char read[6] = {};
  jobs.start(WEFT_AUTO, [&] {
    std::size_t count = 0;
    EXPECT_EQ(weft_read(pipe.first, read, sizeof read, &count), WEFT_OK);
    EXPECT_EQ(count, 5U);
  });
  jobs.start(WEFT_AUTO, [&] {
    EXPECT_EQ(weft_sleep(5 * millisecond), WEFT_OK);
    std::size_t count = 0;
    EXPECT_EQ(weft_write(pipe.second, "hello", 5, &count), WEFT_OK);
    EXPECT_EQ(count, 5U);
  });
  jobs.join();
  EXPECT_STREQ(read, "hello");
}

TEST_F(IoTest, ARootReadsWhileItsUnitsRun) {
  Pipe pipe;
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    EXPECT_EQ(weft_sleep(2 * millisecond), WEFT_OK);
    std::size_t count = 0;
    EXPECT_EQ(weft_write(pipe.second, "x", 1, &count), WEFT_OK);
  });
  char byte = 0;
  std::size_t count = 0;
  EXPECT_EQ(weft_read(pipe.first, &byte, 1, &count), WEFT_OK);
  EXPECT_EQ(byte, 'x');
}

TEST_F(IoTest, TheEndIsZeroBytes) {
  Pipe pipe;
  Jobs jobs;
  std::size_t count = 9;
  jobs.start(WEFT_AUTO, [&] {
    char byte = 0;
    EXPECT_EQ(weft_read(pipe.first, &byte, 1, &count), WEFT_OK);
  });
  jobs.start(WEFT_AUTO, [&] {
    weft_sleep(2 * millisecond);
    close(pipe.second);
    pipe.second = -1;
  });
  jobs.join();
  EXPECT_EQ(count, 0U);
}

// Bug: weft read there itself where there was a time limit, or one file.
TEST_F(IoTest, AnAddressThatFaultsIsAnError) {
  auto* const nowhere = reinterpret_cast<void*>(8);
  const int tcp = socket(AF_INET, SOCK_STREAM, 0);
  std::size_t ready = 0;
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    const auto* address = static_cast<sockaddr*>(nowhere);
    EXPECT_EQ(weft_connect(tcp, address, sizeof(sockaddr_in)), WEFT_ERR_SYSTEM + EFAULT);
    EXPECT_EQ(weft_timed_connect(tcp, address, sizeof(sockaddr_in), 1000000), WEFT_ERR_SYSTEM + EFAULT);
    for (const std::size_t count : {1, 3})
      EXPECT_EQ(weft_poll(static_cast<pollfd*>(nowhere), count, 1000000, &ready), WEFT_ERR_SYSTEM + EFAULT) << count;
  });
  jobs.join();
  close(tcp);
}

TEST_F(IoTest, ErrorsAreThoseOfTheSystemCall) {
  Pipe pipe;
  std::size_t count = 77;
  int connection = 77;
  char byte = 0;
  errno = 12345;
  EXPECT_EQ(weft_read(-1, &byte, 1, &count), WEFT_ERR_SYSTEM + EBADF);
  EXPECT_EQ(weft_write(-1, &byte, 1, &count), WEFT_ERR_SYSTEM + EBADF);
  EXPECT_EQ(weft_write(pipe.first, &byte, 1, &count), WEFT_ERR_SYSTEM + EBADF) << "the end that is read";
  EXPECT_EQ(weft_accept(-1, nullptr, nullptr, 0, &connection), WEFT_ERR_SYSTEM + EBADF);
  for (const std::uint64_t limit_ns : {0, 1000000})
    EXPECT_EQ(weft_timed_accept(-1, nullptr, nullptr, 0, limit_ns, &connection), WEFT_ERR_SYSTEM + EBADF) << limit_ns;
  EXPECT_EQ(weft_accept(pipe.first, nullptr, nullptr, 0, &connection), WEFT_ERR_SYSTEM + ENOTSOCK);
  sockaddr_in nowhere{};
  nowhere.sin_family = AF_INET;
  EXPECT_EQ(weft_connect(-1, reinterpret_cast<sockaddr*>(&nowhere), sizeof nowhere), WEFT_ERR_SYSTEM + EBADF);
  EXPECT_EQ(weft_connect(pipe.first, reinterpret_cast<sockaddr*>(&nowhere), sizeof nowhere),
            WEFT_ERR_SYSTEM + ENOTSOCK);
  EXPECT_EQ(weft_read(pipe.first, nullptr, 1, &count), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_read(pipe.first, &byte, 1, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_write(pipe.first, nullptr, 1, &count), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_accept(pipe.first, nullptr, nullptr, 0, nullptr), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_connect(pipe.first, nullptr, 0), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(weft_poll(nullptr, 1, 0, &count), WEFT_ERR_ARGUMENT);
  EXPECT_EQ(count, 77U) << "written only on success";
  EXPECT_EQ(connection, 77);
  EXPECT_EQ(errno, 12345) << "left alone";
  EXPECT_STREQ(weft_error_name(WEFT_ERR_SYSTEM + EBADF), "EBADF");
  EXPECT_STREQ(weft_error_text(WEFT_ERR_SYSTEM + EBADF), "Bad file descriptor");
  EXPECT_EQ(weft_error_errno(WEFT_ERR_SYSTEM + EBADF), EBADF);
  EXPECT_EQ(weft_error_errno(WEFT_ERR_TIMEOUT), 0);
  EXPECT_STREQ(weft_error_name(WEFT_ERR_SYSTEM), "unknown");
  EXPECT_STREQ(weft_error_name(WEFT_ERR_SYSTEM + 4000), "unknown");
}

TEST_F(IoTest, NobodyListens) {
  sockaddr_in address{};
  {
    const Listener gone;
    address = gone.address;
  }
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(weft_connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), WEFT_ERR_SYSTEM + ECONNREFUSED);
  close(fd);
}

TEST_F(IoTest, NoSignalWhereNobodyReads) {
  struct sigaction before {};
  struct sigaction counting {};
  static std::atomic<int> signals{0};
  signals = 0;
  counting.sa_handler = [](int) { ++signals; };
  sigaction(SIGPIPE, &counting, &before);
  Pipe pipe;
  Sockets sockets;
  close(std::exchange(pipe.first, -1));
  close(std::exchange(sockets.first, -1));
  std::size_t count = 0;
  EXPECT_EQ(weft_write(pipe.second, "x", 1, &count), WEFT_ERR_SYSTEM + EPIPE);
  EXPECT_EQ(weft_write(sockets.second, "x", 1, &count), WEFT_ERR_SYSTEM + EPIPE);
  EXPECT_EQ(signals, 0);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  sigaction(SIGPIPE, &before, nullptr);
}

// Bug: it was taken back as if it had come of weft's own write, with which the kernel had made one of it.
TEST_F(IoTest, ASignalThatTheProgramHasPendingStaysWhereNobodyReads) {
  Pipe pipe;
  close(std::exchange(pipe.first, -1));
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  EXPECT_EQ(::write(pipe.second, "x", 1), -1);
  std::size_t count = 0;
  EXPECT_EQ(weft_write(pipe.second, "x", 1, &count), WEFT_ERR_SYSTEM + EPIPE);
  const timespec at_once{};
  EXPECT_EQ(sigtimedwait(&broken_pipe, nullptr, &at_once), SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(IoTest, TheReaderGoesAwayWhileAUnitWrites) {
  Pipe pipe;
  Jobs jobs;
  const std::vector<char> data(1U << 20U, 'x');
  int error = 0;
  jobs.start(WEFT_AUTO, [&] {
    std::size_t count = 0;
    EXPECT_EQ(weft_write(pipe.second, data.data(), data.size(), &count), WEFT_OK);
    EXPECT_LT(count, data.size()) << "as much as there was room for";
    error = weft_write(pipe.second, data.data(), data.size(), &count);
  });
  // It has written as much as there was room for, and writes or will write the rest.
  EXPECT_TRUE(eventually([&] {
    int full = 0;
    return ioctl(pipe.first, FIONREAD, &full) == 0 && full > 0;
  }));
  weft_sleep(10 * millisecond);
  close(std::exchange(pipe.first, -1));
  jobs.join();
  EXPECT_EQ(error, WEFT_ERR_SYSTEM + EPIPE);
}

TEST_F(IoTest, AStacklessUnitCannotWait) {
  Pipe pipe;
  Jobs jobs;
  jobs.start(WEFT_STACKLESS, [&] {
    char byte = 0;
    std::size_t count = 0;
    pollfd file{pipe.first, POLLIN, 0};
    EXPECT_EQ(weft_read(pipe.first, &byte, 1, &count), WEFT_ERR_STACKLESS);
    EXPECT_EQ(weft_poll(&file, 1, WEFT_FOREVER, &count), WEFT_ERR_STACKLESS);
  });
  jobs.join();
}

// Bug: one that was closed between the look at it and the wait for it was an error of the call.
TEST_F(IoTest, AFileIsClosedAsAWaitForItBegins) {
  Pipe pipe;
  std::atomic<int> to_be_closed{-1};
  std::atomic<bool> over{false};
  std::thread closer([&] {
    for (unsigned round = 0; !over; ++round) {
      if (to_be_closed == -1) continue;
      for (unsigned pause = 0; pause < round * 2654435761U % 4096; ++pause) asm volatile("");
      close(to_be_closed);
      to_be_closed = -1;
    }
  });
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    for (unsigned round = 0; round < scaled(2000); ++round) {
      pollfd file{dup(pipe.first), POLLIN, 0};
      std::size_t ready = 0;
      to_be_closed = file.fd;
      const int error = weft_poll(&file, 1, millisecond, &ready);
      EXPECT_TRUE(error == WEFT_ERR_TIMEOUT || (error == WEFT_OK && file.revents == POLLNVAL)) << error;
      while (to_be_closed != -1) std::this_thread::yield();
    }
  });
  jobs.join();
  over = true;
  closer.join();
}

TEST_F(IoTest, LimitsAreKept) {
  Pipe pipe;
  Listener listener;
  Jobs jobs;
  char byte = 0;
  std::size_t count = 0;
  int connection = -1;
  EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, 0, &count), WEFT_ERR_TIMEOUT) << "0 never waits";
  const std::uint64_t began = now();
  jobs.start(WEFT_AUTO, [&] {
    EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, 20 * millisecond, &count), WEFT_ERR_TIMEOUT);
    EXPECT_GE(now() - began, 20 * millisecond);
  });
  jobs.start(WEFT_AUTO, [&] {
    int got = -1;
    EXPECT_EQ(weft_timed_accept(listener.fd, nullptr, nullptr, 0, 20 * millisecond, &got), WEFT_ERR_TIMEOUT);
  });
  jobs.start(WEFT_AUTO, [&] {
    pollfd files[3] = {{pipe.first, POLLIN, 0}, {-1, POLLIN, 0}, {listener.fd, POLLIN, 0}};
    std::size_t ready = 5;
    EXPECT_EQ(weft_poll(files, 3, 20 * millisecond, &ready), WEFT_ERR_TIMEOUT);
    EXPECT_EQ(ready, 5U);
  });
  jobs.join();
  EXPECT_LT(now() - began, 10000 * millisecond);
  EXPECT_EQ(weft_timed_accept(listener.fd, nullptr, nullptr, 0, 0, &connection), WEFT_ERR_TIMEOUT);
  // What comes in time is not late, and the limit of what is over does no harm.
  EXPECT_EQ(::write(pipe.second, "a", 1), 1);
  EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, 10000 * millisecond, &count), WEFT_OK);
  jobs.start(WEFT_AUTO, [&] {
    EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, 10000 * millisecond, &count), WEFT_OK);
    EXPECT_EQ(byte, 'b');
  });
  weft_sleep(5 * millisecond);
  EXPECT_EQ(::write(pipe.second, "b", 1), 1);
  jobs.join();
}

TEST_F(IoTest, AWriteThatIsOutOfTime) {
  Pipe pipe;
  const std::vector<char> data(1U << 20U, 'x');
  std::size_t count = 0;
  EXPECT_EQ(weft_timed_write(pipe.second, data.data(), data.size(), 10 * millisecond, &count), WEFT_OK);
  EXPECT_GT(count, 0U);
  EXPECT_LT(count, data.size());
  EXPECT_EQ(weft_timed_write(pipe.second, data.data(), data.size(), 10 * millisecond, &count), WEFT_ERR_TIMEOUT);
  EXPECT_EQ(weft_timed_write(pipe.second, data.data(), data.size(), 0, &count), WEFT_ERR_TIMEOUT);
}

// Nobody answers there (TEST-NET-1 of RFC 5737): it takes its time, or there is no way to it.
TEST_F(IoTest, AConnectionThatDoesNotComeAbout) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int flags = fcntl(fd, F_GETFL);
  const int error = weft_timed_connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address, 20 * millisecond);
  EXPECT_TRUE(error == WEFT_ERR_TIMEOUT || weft_error_errno(error) != 0 || error == WEFT_OK) << weft_error_name(error);
  EXPECT_EQ(fcntl(fd, F_GETFL), flags);
  close(fd);
}

TEST_F(IoTest, NonblockingFilesWaitTheSame) {
  Sockets sockets(SOCK_NONBLOCK);
  Listener listener;
  fcntl(listener.fd, F_SETFL, O_NONBLOCK);
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    char bytes[4];
    std::size_t count = 0;
    EXPECT_EQ(weft_read(sockets.first, bytes, sizeof bytes, &count), WEFT_OK);
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(weft_timed_read(sockets.first, bytes, sizeof bytes, 5 * millisecond, &count), WEFT_ERR_TIMEOUT);
  });
  jobs.start(WEFT_AUTO, [&] {
    int connection = -1;
    EXPECT_EQ(weft_accept(listener.fd, nullptr, nullptr, SOCK_CLOEXEC, &connection), WEFT_OK);
    EXPECT_NE(fcntl(connection, F_GETFD) & FD_CLOEXEC, 0);
    close(connection);
  });
  jobs.start(WEFT_AUTO, [&] {
    weft_sleep(5 * millisecond);
    std::size_t count = 0;
    EXPECT_EQ(weft_write(sockets.second, "abc", 3, &count), WEFT_OK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    EXPECT_EQ(weft_connect(fd, listener.at(), sizeof listener.address), WEFT_OK);
    close(fd);
  });
  jobs.join();
}

// The kernel does not wait there for a socket with O_NONBLOCK, and cannot say when there is room.
TEST_F(IoTest, AUnixSocketWaitsForRoomAtTheListener) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0) << "the kernel names it";
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  const auto at = reinterpret_cast<const sockaddr*>(&address);
  const int first = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(first, at, size), 0) << "the only one that there is room for";
  for (const int flags : {0, int{SOCK_NONBLOCK}}) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | flags, 0);
    EXPECT_EQ(weft_timed_connect(fd, at, size, 0), WEFT_ERR_TIMEOUT);
    EXPECT_EQ(weft_timed_connect(fd, at, size, 20 * millisecond), WEFT_ERR_TIMEOUT);
    close(fd);
    for (const std::uint64_t limit : {10000 * millisecond, std::uint64_t{WEFT_FOREVER}}) {
      const int other = socket(AF_UNIX, SOCK_STREAM | flags, 0);
      Jobs jobs;
      jobs.start(WEFT_AUTO, [&] { EXPECT_EQ(weft_timed_connect(other, at, size, limit), WEFT_OK); });
      weft_sleep(10 * millisecond);
      int connection = -1;
      EXPECT_EQ(weft_accept(listener, nullptr, nullptr, 0, &connection), WEFT_OK);
      jobs.join();
      close(connection);
      close(other);
    }
  }
  close(first);
  close(listener);
}

TEST_F(IoTest, AllOfALargeWriteArrives) {
  Sockets sockets;
  Jobs jobs;
  constexpr std::size_t size = 3U << 20U;
  std::vector<unsigned char> sent(size);
  for (std::size_t index = 0; index < size; ++index) sent[index] = static_cast<unsigned char>(index * 31 + index / 257);
  std::vector<unsigned char> got(size);
  jobs.start(WEFT_AUTO, [&] {
    std::size_t count = 0;
    EXPECT_EQ(weft_write(sockets.first, sent.data(), size, &count), WEFT_OK);
    EXPECT_EQ(count, size);
  });
  jobs.start(WEFT_AUTO, [&] {
    for (std::size_t at = 0, count = 0; at < size; at += count) {
      ASSERT_EQ(weft_read(sockets.second, got.data() + at, size - at, &count), WEFT_OK);
      ASSERT_GT(count, 0U);
    }
  });
  jobs.join();
  EXPECT_TRUE(sent == got);
}

TEST_F(IoTest, FilesOnADisk) {
  FILE* file = tmpfile();
  ASSERT_NE(file, nullptr);
  const int fd = fileno(file);
  std::vector<char> data(100000);
  for (std::size_t index = 0; index < data.size(); ++index) data[index] = static_cast<char>(index % 251);
  std::size_t count = 0;
  EXPECT_EQ(weft_write(fd, data.data(), data.size(), &count), WEFT_OK);
  EXPECT_EQ(count, data.size());
  ASSERT_EQ(lseek(fd, 10, SEEK_SET), 10) << "the file has one position, and moves it";
  std::vector<char> got(200000);
  EXPECT_EQ(weft_read(fd, got.data(), got.size(), &count), WEFT_OK);
  EXPECT_EQ(count, data.size() - 10);
  EXPECT_EQ(memcmp(got.data(), data.data() + 10, count), 0);
  EXPECT_EQ(weft_read(fd, got.data(), got.size(), &count), WEFT_OK);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(weft_read(fd, got.data(), 0, &count), WEFT_OK);
  EXPECT_EQ(weft_write(fd, got.data(), 0, &count), WEFT_OK);
  fclose(file);
}

// Bug: threads that wait brought what was in memory of it.
TEST_F(IoTest, AllOfAFileOnADiskThatIsNotInMemory) {
  char path[] = "weft-io-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  unlink(path);
  const std::vector<char> data(2U << 20U, 'd');
  std::size_t count = 0;
  EXPECT_EQ(weft_write(fd, data.data(), data.size(), &count), WEFT_OK);
  std::vector<char> got(data.size());
  for (int round = 0; round < 5; ++round) {
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    lseek(fd, 0, SEEK_SET);
    EXPECT_EQ(weft_timed_read(fd, got.data(), got.size(), 10'000 * millisecond, &count), WEFT_OK);
    EXPECT_EQ(count, data.size());
  }
  close(fd);
}

// Bug: threads that wait tried it for ever, as the file was always ready.
TEST_F(IoTest, ALimitWhereADiskHasToMakeRoom) {
  FILE* file = tmpfile();
  ASSERT_NE(file, nullptr);
  const int fd = fileno(file);
  alignas(4096) static char blocks[8192];
  if (fcntl(fd, F_SETFL, O_DIRECT) == 0) {
    std::size_t count = 0;
    EXPECT_EQ(weft_timed_write(fd, blocks, sizeof blocks, 10'000 * millisecond, &count), WEFT_OK);
    EXPECT_EQ(count, sizeof blocks);
  }
  fclose(file);
}

TEST_F(IoTest, PollSaysWhichFilesAreReady) {
  Pipe pipes[5];
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    pollfd files[6];
    for (int index = 0; index < 5; ++index) files[index] = {pipes[index].first, POLLIN, 0};
    files[5] = {-1, POLLIN, 0};
    std::size_t ready = 0;
    EXPECT_EQ(weft_poll(files, 6, WEFT_FOREVER, &ready), WEFT_OK);
    EXPECT_EQ(ready, 1U);
    EXPECT_EQ(files[3].revents, POLLIN);
    EXPECT_EQ(files[0].revents, 0);
  });
  jobs.start(WEFT_AUTO, [&] {
    weft_sleep(5 * millisecond);
    EXPECT_EQ(::write(pipes[3].second, "x", 1), 1);
  });
  jobs.join();
  std::size_t ready = 0;
  pollfd bad{12345, POLLIN, 0};
  EXPECT_EQ(weft_poll(&bad, 1, WEFT_FOREVER, &ready), WEFT_OK);
  EXPECT_EQ(bad.revents, POLLNVAL);
  pollfd both{pipes[3].first, POLLIN, 0};
  EXPECT_EQ(weft_poll(&both, 1, 0, &ready), WEFT_OK);
  EXPECT_EQ(weft_poll(nullptr, 0, 5 * millisecond, &ready), WEFT_ERR_TIMEOUT);
}

TEST_F(IoTest, SignalsDoNotInterrupt) {
  struct sigaction before {};
  struct sigaction counting {};
  static std::atomic<int> signals{0};
  signals = 0;
  counting.sa_handler = [](int) { ++signals; };  // no SA_RESTART
  sigaction(SIGUSR1, &counting, &before);
  Pipe pipe;
  std::atomic<bool> over{false};
  const pthread_t reader = pthread_self();
  std::thread sender([&] {
    for (int round = 0; round < 20; ++round) {
      pthread_kill(reader, SIGUSR1);
      kill(getpid(), SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    over = true;
    EXPECT_EQ(::write(pipe.second, "x", 1), 1);
  });
  char byte = 0;
  std::size_t count = 0;
  EXPECT_EQ(weft_read(pipe.first, &byte, 1, &count), WEFT_OK);
  EXPECT_TRUE(over);
  EXPECT_GT(signals, 0);
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(IoTest, ShutdownEndsTheWaiting) {
  Sockets sockets;
  Jobs jobs;
  std::size_t count = 1;
  jobs.start(WEFT_AUTO, [&] {
    char byte = 0;
    EXPECT_EQ(weft_read(sockets.first, &byte, 1, &count), WEFT_OK);
  });
  weft_sleep(5 * millisecond);
  shutdown(sockets.first, SHUT_RDWR);
  jobs.join();
  EXPECT_EQ(count, 0U);
}

/// A Unix socket that listens; the kernel names it.
struct UnixListener {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  explicit UnixListener(int flags) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
    EXPECT_EQ(listen(fd, 4), 0);
    EXPECT_EQ(fcntl(fd, F_SETFL, flags), 0);
  }
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  ~UnixListener() { close(fd); }
};

/// Sends to itself.
int datagram_socket(int domain, int flags) {
  if (domain == AF_UNIX) {
    int both[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | flags, 0, both), 0);
    close(both[1]);
    return both[0];
  }
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | flags, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  return fd;
}

// `wait` is begun before the socket is shut down, and after.
void with_shutdown(const std::function<int()>& open, const std::function<void(int fd, std::uint64_t limit)>& wait) {
  for (const bool before : {true, false}) {
    for (const std::uint64_t limit : {WEFT_FOREVER, std::uint64_t{100'000} * millisecond, std::uint64_t{0}}) {
      if (!before && limit == 0) continue;
      SCOPED_TRACE(testing::Message() << (before ? "before" : "while it waits") << ", limit " << limit);
      const int fd = open();
      if (before) shutdown(fd, SHUT_RDWR);
      Jobs jobs;
      jobs.start(WEFT_AUTO, [&] { wait(fd, limit); });
      weft_sleep(5 * millisecond);
      shutdown(fd, SHUT_RDWR);
      jobs.join();
      close(fd);
    }
  }
}

// Bug: with O_NONBLOCK the unit asked again and again, and so did a thread that kept a limit.
TEST_F(IoTest, ShutdownEndsTheWaitingForDatagrams) {
  for (const int domain : {AF_UNIX, AF_INET})
    for (const int flags : {0, int{SOCK_NONBLOCK}})
      with_shutdown([&] { return datagram_socket(domain, flags); },
                    [](int fd, std::uint64_t limit) {
                      char byte = 0;
                      std::size_t count = 1;
                      EXPECT_EQ(weft_timed_read(fd, &byte, 1, limit, &count), WEFT_OK);
                      EXPECT_EQ(count, 0U);
                    });
}

// Bug: with O_NONBLOCK the unit asked again and again.
TEST_F(IoTest, ShutdownEndsTheWaitingForConnections) {
  for (const int flags : {0, O_NONBLOCK})
    with_shutdown([&] { return dup(UnixListener(flags).fd); },
                  [](int fd, std::uint64_t limit) {
                    int connection = -1;
                    EXPECT_EQ(weft_timed_accept(fd, nullptr, nullptr, 0, limit, &connection), WEFT_ERR_SYSTEM + EINVAL);
                  });
}

TEST_F(IoTest, WhatCameBeforeTheShutdownIsRead) {
  for (const int flags : {0, int{SOCK_NONBLOCK}}) {
    const int fd = datagram_socket(AF_INET, flags);
    EXPECT_EQ(::send(fd, "a", 1, 0), 1);
    shutdown(fd, SHUT_RD);
    Jobs jobs;
    jobs.start(WEFT_AUTO, [&] {
      char byte = 0;
      std::size_t count = 0;
      EXPECT_EQ(weft_read(fd, &byte, 1, &count), WEFT_OK);
      EXPECT_EQ(count, 1U);
      EXPECT_EQ(byte, 'a');
      EXPECT_EQ(weft_read(fd, &byte, 1, &count), WEFT_OK);
      EXPECT_EQ(count, 0U);
    });
    jobs.join();
    close(fd);
  }
}

// Closes a file a while after a unit is about to read it. False: it had not come to wait for it by then.
bool stays_open_for_who_waits(std::uint64_t while_ns) {
  Pipe pipe;
  Jobs jobs;
  std::atomic<bool> begun{false};
  char byte = 0;
  int first = WEFT_OK, second = WEFT_OK;
  const int read_end = pipe.first;
  jobs.start(WEFT_AUTO, [&] {
    std::size_t count = 0;
    begun = true;
    first = weft_read(read_end, &byte, 1, &count);
    second = weft_read(read_end, &byte, 1, &count);
  });
  EXPECT_TRUE(eventually([&] { return begun.load(); }));
  weft_sleep(while_ns);
  close(std::exchange(pipe.first, -1));
  const ssize_t written = ::write(pipe.second, "z", 1);
  jobs.join();
  EXPECT_EQ(second, WEFT_ERR_SYSTEM + EBADF);
  if (first == WEFT_ERR_SYSTEM + EBADF) return false;
  EXPECT_EQ(first, WEFT_OK);
  EXPECT_EQ(written, 1);
  EXPECT_EQ(byte, 'z');
  return true;
}

// Nothing tells when a unit waits in the kernel: longer and longer, where the machine is busy.
TEST_F(IoTest, AFileThatIsClosedStaysOpenForWhoWaits) {
  const auto before = signal(SIGPIPE, SIG_IGN);  // of a write to what nobody reads
  bool stays_open = false;
  for (int round = 0; round < 8 && !stays_open; ++round)
    stays_open = stays_open_for_who_waits((20ULL << round) * millisecond);
  EXPECT_TRUE(stays_open);
  signal(SIGPIPE, before);
}

// Bug: where other units ran in between it was said to be sent, and was not.
TEST_F(IoTest, ADatagramOfNoBytesIsSent) {
  int both[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, both), 0);
  unsigned sent = 0;
  while (::send(both[0], "x", 1, MSG_DONTWAIT) == 1) ++sent;
  Jobs jobs;
  std::atomic<bool> yields{true};
  jobs.start(WEFT_AUTO, [&] {
    while (yields) weft_yield();
  });
  std::size_t count = 1;
  jobs.start(WEFT_AUTO, [&] { EXPECT_EQ(weft_write(both[0], "", 0, &count), WEFT_OK); });
  weft_sleep(10 * millisecond);
  char byte = 0;
  for (unsigned index = 0; index < sent; ++index) EXPECT_EQ(::recv(both[1], &byte, 1, 0), 1);
  EXPECT_TRUE(eventually([&] { return ::recv(both[1], &byte, 1, MSG_DONTWAIT) == 0; }, std::chrono::seconds(20)));
  yields = false;
  jobs.join();
  EXPECT_EQ(count, 0U);
  close(both[0]);
  close(both[1]);
}

// ---------------------------------------------------------------- numbers that are given to other files

// Whoever serves it has come to it when this returns.
void expect_waiting(const weft_unit* unit) {
  EXPECT_TRUE(eventually([unit] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  weft_sleep(20 * millisecond);
}

// With a limit and without.
void with_limits(const std::function<void(std::uint64_t limit)>& test) {
  for (const std::uint64_t limit : {WEFT_FOREVER, std::uint64_t{20'000} * millisecond}) {
    SCOPED_TRACE(testing::Message() << "limit " << limit);
    test(limit);
  }
}

// As where threads wait; with a ring it goes on with the first.
void expect_done_or_closed(int error) {
  EXPECT_TRUE(error == WEFT_OK || error == WEFT_ERR_SYSTEM + EBADF) << weft_error_text(error);
}

// A unit reads from a file, and its number is given to another file meanwhile.
void read_what_is_replaced(int flags, std::uint64_t limit) {
  Pipe first, second;
  EXPECT_EQ(fcntl(first.first, F_SETFL, flags), 0);
  EXPECT_EQ(::write(second.second, "2", 1), 1);
  const int kept = dup(first.first);  // who writes finds a reader
  Jobs jobs;
  char byte = '0';
  std::size_t count = 0;
  int error = WEFT_OK;
  expect_waiting(jobs.start(WEFT_AUTO, [&] { error = weft_timed_read(first.first, &byte, 1, limit, &count); }));
  EXPECT_EQ(dup2(second.first, first.first), first.first);
  EXPECT_EQ(::write(first.second, "1", 1), 1);
  jobs.join();
  expect_done_or_closed(error);
  EXPECT_NE(byte, '2');
  pollfd other{second.first, POLLIN, 0};
  EXPECT_EQ(::poll(&other, 1, 0), 1) << "its byte has been taken";
  close(kept);
}

// Bug: where it waited with a limit or for a file with O_NONBLOCK.
TEST_F(IoTest, AFileThatTakesANumberOverIsNotRead) {
  for (const int flags : {0, O_NONBLOCK})
    with_limits([flags](std::uint64_t limit) { read_what_is_replaced(flags, limit); });
}

// Bug: what was left after the first part went to the other file.
TEST_F(IoTest, AFileThatTakesANumberOverIsNotWrittenTo) {
  const std::vector<char> data(4U << 20U, 'w');
  with_limits([&data](std::uint64_t limit) {
    Sockets sockets;
    const int kept = dup(sockets.first);
    const int other = memfd_create("weft", MFD_CLOEXEC);
    Jobs jobs;
    std::size_t written = 0;
    int error = WEFT_OK;
    expect_waiting(jobs.start(
        WEFT_AUTO, [&] { error = weft_timed_write(sockets.first, data.data(), data.size(), limit, &written); }));
    EXPECT_EQ(dup2(other, sockets.first), sockets.first);
    std::vector<char> got(data.size());
    std::size_t all = 0;
    std::size_t count = 0;
    while (weft_timed_read(sockets.second, got.data(), got.size(), 200 * millisecond, &count) == WEFT_OK) all += count;
    jobs.join();
    EXPECT_EQ(error, WEFT_OK);
    EXPECT_EQ(all, written);
    EXPECT_EQ(lseek(other, 0, SEEK_END), 0);
    close(other);
    close(kept);
  });
}

TEST_F(IoTest, AFileThatTakesANumberOverAcceptsNobody) {
  with_limits([](std::uint64_t limit) {
    Listener first, second;
    const int kept = dup(first.fd);
    Jobs jobs;
    int connection = -1;
    int error = WEFT_OK;
    expect_waiting(jobs.start(
        WEFT_AUTO, [&] { error = weft_timed_accept(first.fd, nullptr, nullptr, SOCK_CLOEXEC, limit, &connection); }));
    EXPECT_EQ(dup2(second.fd, first.fd), first.fd);
    const int to_second = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int to_first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(to_second, second.at(), sizeof second.address), 0);
    EXPECT_EQ(::connect(to_first, first.at(), sizeof first.address), 0);
    jobs.join();
    expect_done_or_closed(error);
    pollfd other{second.fd, POLLIN, 0};
    EXPECT_EQ(::poll(&other, 1, 0), 1) << "its connection has been taken";
    if (connection >= 0) close(connection);
    close(to_first);
    close(to_second);
    close(kept);
  });
}

// Bug: whoever came to serve it took what had the number by then. There is one who serves, and he is busy.
TEST_F(IoTest, AFileThatTakesANumberOverBeforeItIsServed) {
  if (std::getenv("TEST_ONE_SERVES") == nullptr) GTEST_SKIP() << "for WEFT_IO=klts with WEFT_MAX_KLTS=1";
  Pipe busy;
  Jobs jobs;
  char first = 0;
  std::size_t count = 0;
  expect_waiting(jobs.start(WEFT_AUTO, [&] { EXPECT_EQ(weft_read(busy.first, &first, 1, &count), WEFT_OK); }));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(::write(busy.second, "b", 1), 1);
  });
  read_what_is_replaced(0, WEFT_FOREVER);
  later.join();
  jobs.join();
}

// ---------------------------------------------------------------- many

// Each reads what another writes: all wait at the same time, on however few workers.
TEST_F(IoTest, ManyUnitsWaitAtOnce) {
  constexpr unsigned pairs = 300;
  const unsigned rounds = scaled(40);
  std::vector<std::unique_ptr<Sockets>> sockets;
  for (unsigned index = 0; index < pairs; ++index) sockets.push_back(std::make_unique<Sockets>());
  std::atomic<std::uint64_t> sum{0};
  Jobs jobs;
  for (unsigned index = 0; index < pairs; ++index) {
    jobs.start(WEFT_AUTO, [&, fd = sockets[index]->first] {
      for (unsigned round = 0; round < rounds; ++round) {
        unsigned number = 0;
        std::size_t count = 0;
        ASSERT_EQ(weft_read(fd, &number, sizeof number, &count), WEFT_OK);
        ASSERT_EQ(count, sizeof number);
        sum += number;
        ASSERT_EQ(weft_write(fd, &number, sizeof number, &count), WEFT_OK);
      }
    });
    jobs.start(WEFT_AUTO, [&, fd = sockets[index]->second] {
      for (unsigned round = 0; round < rounds; ++round) {
        std::size_t count = 0;
        unsigned number = round;
        if (round % 8 == 0) weft_sleep(millisecond);
        ASSERT_EQ(weft_write(fd, &round, sizeof round, &count), WEFT_OK);
        ASSERT_EQ(weft_read(fd, &number, sizeof number, &count), WEFT_OK);
        ASSERT_EQ(number, round);
      }
    });
  }
  jobs.join();
  EXPECT_EQ(sum, std::uint64_t{pairs} * rounds * (rounds - 1) / 2);
}

TEST_F(IoTest, AServerAndItsClients) {
  constexpr unsigned clients = 50;
  Listener listener;
  Jobs jobs;
  std::atomic<unsigned> served{0};
  jobs.start(WEFT_AUTO, [&] {
    for (unsigned index = 0; index < clients; ++index) {
      int connection = -1;
      sockaddr_in peer{};
      socklen_t length = sizeof peer;
      ASSERT_EQ(weft_accept(listener.fd, reinterpret_cast<sockaddr*>(&peer), &length, 0, &connection), WEFT_OK);
      EXPECT_EQ(peer.sin_family, AF_INET);
      EXPECT_EQ(length, sizeof peer);
      jobs.start_detached(WEFT_UNIT_ATTR_INIT, [&, connection] {
        char bytes[100];
        std::size_t count = 0;
        while (weft_read(connection, bytes, sizeof bytes, &count) == WEFT_OK && count != 0)
          EXPECT_EQ(weft_write(connection, bytes, count, &count), WEFT_OK);
        close(connection);
        ++served;
      });
    }
  });
  Jobs clients_of_it;
  for (unsigned index = 0; index < clients; ++index) {
    clients_of_it.start(WEFT_AUTO, [&, index] {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      ASSERT_EQ(weft_connect(fd, listener.at(), sizeof listener.address), WEFT_OK);
      for (unsigned round = 0; round < 5; ++round) {
        const unsigned sent = index * 100 + round;
        unsigned got = 0;
        std::size_t count = 0;
        EXPECT_EQ(weft_write(fd, &sent, sizeof sent, &count), WEFT_OK);
        EXPECT_EQ(weft_read(fd, &got, sizeof got, &count), WEFT_OK);
        EXPECT_EQ(got, sent);
      }
      close(fd);
    });
  }
  clients_of_it.join();
  EXPECT_TRUE(eventually([&] { return served == clients; }));
  jobs.join();
}

TEST_F(IoTest, AForkedChildBeginsAnew) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  if (thread_sanitizer) GTEST_SKIP() << "starts no threads in a forked child";
  Pipe pipe;
  char byte = 0;
  std::size_t count = 0;
  EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, millisecond, &count), WEFT_ERR_TIMEOUT);
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    char of_parent = 0;
    std::size_t of_it = 0;
    EXPECT_EQ(weft_read(pipe.first, &of_parent, 1, &of_it), WEFT_OK);
    EXPECT_EQ(of_parent, 'p');
  });
  weft_sleep(2 * millisecond);
  const pid_t child = fork();
  if (child == 0) {
    Pipe own;
    int error = weft_timed_read(own.first, &byte, 1, millisecond, &count);
    if (error != WEFT_ERR_TIMEOUT) _exit(2);
    std::thread writer([&] { [[maybe_unused]] const auto written = ::write(own.second, "c", 1); });
    error = weft_read(own.first, &byte, 1, &count);
    writer.join();
    _exit(error == WEFT_OK && byte == 'c' ? 0 : 3);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(::write(pipe.second, "p", 1), 1);
  jobs.join();
}

// ---------------------------------------------------------------- programs that close what they have not opened

// A unit reads the byte, and waits for it already when this returns.
void start_reading(Jobs& jobs, const Pipe& pipe, char& byte) {
  jobs.start(WEFT_AUTO, [&] {
    std::size_t count = 0;
    weft_read(pipe.first, &byte, 1, &count);
  });
  weft_sleep(5 * millisecond);
}

// Whoever serves those that wait has to be told of this one first.
bool a_byte_comes() {
  Pipe pipe;
  Jobs jobs;
  char byte = 0;
  start_reading(jobs, pipe, byte);
  if (::write(pipe.second, "x", 1) != 1) return false;
  jobs.join();
  return byte == 'x';
}

// Opens files that get the lowest numbers.
using Open = void (*)(std::vector<int>& files);

void open_file(std::vector<int>& files) { files.push_back(memfd_create("weft", MFD_CLOEXEC)); }
void open_eventfd(std::vector<int>& files) { files.push_back(eventfd(0, EFD_NONBLOCK)); }
void open_sockets(std::vector<int>& files) {
  int both[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, both) == 0) files.insert(files.end(), both, both + 2);
}

bool is_untouched(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return status.st_size == 0;
  pollfd one{file, POLLIN, 0};
  return ::poll(&one, 1, 0) == 0;
}

bool are_untouched(const std::vector<int>& files) { return std::all_of(files.begin(), files.end(), is_untouched); }

bool are_open_in_child(const std::vector<int>& files) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    _exit(are_untouched(files) && a_byte_comes() && are_untouched(files) ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

// As a daemon does it. In a process of its own; 0: all went well.
int close_all_and_open(Open open) {
  alarm(100);
  const Pipe pipe;  // what is opened later has greater numbers
  if (!a_byte_comes()) return 2;
  Jobs jobs;
  char byte = 0;
  start_reading(jobs, pipe, byte);
  closefrom(std::max(pipe.first, pipe.second) + 1);
  std::vector<int> files;
  while (files.size() < 20) open(files);
  for (int round = 0; round < 3; ++round)
    if (!a_byte_comes()) return 3;
  if (::write(pipe.second, "x", 1) != 1) return 4;
  jobs.join();
  if (byte != 'x') return 4;
  if (!are_untouched(files)) return 5;
  return are_open_in_child(files) ? 0 : 6;
}

// While units ask at once. What they use has been opened before, so what has greater numbers is not theirs.
int close_while_others_ask(unsigned rounds_before) {
  alarm(100);
  constexpr unsigned pairs = 8;
  constexpr unsigned rounds = 60;
  Sockets sockets[pairs];
  int greatest = 0;
  for (const Sockets& pair : sockets) greatest = std::max({greatest, pair.first, pair.second});
  std::atomic<unsigned> done{0};
  Jobs jobs;
  const auto pass_on = [&](int fd, bool begins) {
    for (unsigned round = 0; round < rounds; ++round) {
      char byte = 0;
      std::size_t count = 0;
      if (begins || round != 0) weft_write(fd, "x", 1, &count);
      if (weft_read(fd, &byte, 1, &count) != WEFT_OK || byte != 'x') _exit(7);
      ++done;
    }
    std::size_t count = 0;
    if (!begins) weft_write(fd, "x", 1, &count);
  };
  for (const Sockets& pair : sockets) {
    jobs.start(WEFT_AUTO, [&pass_on, fd = pair.first] { pass_on(fd, true); });
    jobs.start(WEFT_AUTO, [&pass_on, fd = pair.second] { pass_on(fd, false); });
  }
  std::thread closer([&] {
    while (done < rounds_before) std::this_thread::yield();
    closefrom(greatest + 1);
  });
  jobs.join();
  closer.join();
  return done == 2 * pairs * rounds ? 0 : 8;
}

void expect_success(const std::function<int()>& in_child) {
  const pid_t child = fork();
  if (child == 0) _exit(in_child());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status) << " or signal " << WTERMSIG(status);
}

TEST_F(IoTest, TheProgramClosesAllAndOpensFilesOfItsOwn) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  if (thread_sanitizer) GTEST_SKIP() << "starts no threads in a forked child";
  for (const Open open : {open_file, open_eventfd, open_sockets})
    expect_success([open] { return close_all_and_open(open); });
}

TEST_F(IoTest, TheProgramClosesAllWhileUnitsWait) {
  if (address_sanitizer) GTEST_SKIP() << "its allocator does not survive a fork beside busy threads";
  if (thread_sanitizer) GTEST_SKIP() << "starts no threads in a forked child";
  for (const unsigned rounds : {1U, 30U, 100U, 301U})
    expect_success([rounds] { return close_while_others_ask(rounds); });
}

TEST_F(IoTest, WhoWaitsUsesNoCpu) {
  Pipe pipe;
  Jobs jobs;
  jobs.start(WEFT_AUTO, [&] {
    char byte = 0;
    std::size_t count = 0;
    EXPECT_EQ(weft_read(pipe.first, &byte, 1, &count), WEFT_OK);
  });
  weft_sleep(50 * millisecond);
  expect_no_cpu_used();
  EXPECT_EQ(::write(pipe.second, "x", 1), 1);
  jobs.join();
}

TEST_F(IoTest, Cpp) {
  Pipe pipe;
  auto reading = weft::spawn([&] {
    char bytes[8];
    return std::string(bytes, weft::read(pipe.first, bytes, sizeof bytes));
  });
  EXPECT_EQ(weft::write(pipe.second, "hello", 5), 5U);
  EXPECT_EQ(reading.join(), "hello");
  char byte = 0;
  EXPECT_FALSE(weft::read_for(pipe.first, &byte, 1, std::chrono::milliseconds(1)).has_value());
  pollfd file{pipe.first, POLLIN, 0};
  EXPECT_EQ(weft::poll_for(&file, 1, std::chrono::milliseconds(1)), 0U);
  EXPECT_EQ(weft::write(pipe.second, "x", 1), 1U);
  EXPECT_EQ(weft::poll(&file, 1), 1U);
  try {
    weft::read(-1, &byte, 1);
    ADD_FAILURE() << "no such file";
  } catch (const weft::Error& error) {
    EXPECT_EQ(weft_error_errno(error.code()), EBADF);
    EXPECT_STREQ(error.what(), "Bad file descriptor");
  }
  Listener listener;
  auto serving = weft::spawn([&] { close(weft::accept(listener.fd)); });
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  weft::connect(fd, listener.at(), sizeof listener.address);
  serving.join();
  close(fd);
}

// Which of the two serves is what the test was started for.
TEST_F(IoTest, ServedAsAsked) {
  Pipe pipe;
  char byte = 0;
  std::size_t count = 0;
  EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, millisecond, &count), WEFT_ERR_TIMEOUT);
  std::ifstream mapped("/proc/self/maps");
  bool ring = false;
  for (std::string line; std::getline(mapped, line);) ring = ring || line.find("[io_uring]") != std::string::npos;
  const char* wanted = getenv("TEST_IO");
  if (wanted != nullptr) {
    EXPECT_EQ(ring, strcmp(wanted, "ring") == 0);
  }
}

}  // namespace
}  // namespace weft::test
