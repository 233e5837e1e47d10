// Input and output for units (weft/io.h) of files that poll(2) says are ready while a call would wait: terminals, and
// eventfds that are full. And of those of which it never says anything.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/eventfd.h>
#include <termios.h>

#include "io_support.h"
#include <weft/io.h>

namespace weft::test {
namespace {

class IoReadyTest : public ApiTest {};

/// A pseudo-terminal: `first` is the end without a name. Bytes go through as they are.
struct Terminal : Pair {
  Terminal() {
    first = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_EQ(grantpt(first), 0);
    EXPECT_EQ(unlockpt(first), 0);
    char path[64] = "";
    EXPECT_EQ(ptsname_r(first, path, sizeof path), 0);
    second = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_GE(second, 0);
    set([](termios& settings) { cfmakeraw(&settings); });
  }
  template <class Change>
  void set(Change change) const {
    termios settings{};
    EXPECT_EQ(tcgetattr(second, &settings), 0);
    change(settings);
    EXPECT_EQ(tcsetattr(second, TCSANOW, &settings), 0);
  }
};

// Another unit's limit is kept; then what the first waits for comes.
void expect_others_go_on(const std::function<void()>& bring) {
  Pipe pipe;
  Jobs jobs;
  std::atomic<bool> over{false};
  jobs.start(WEFT_AUTO, [&] {
    char byte = 0;
    std::size_t count = 0;
    EXPECT_EQ(weft_timed_read(pipe.first, &byte, 1, 10 * millisecond, &count), WEFT_ERR_TIMEOUT);
    over = true;
  });
  EXPECT_TRUE(eventually([&] { return over.load(); }, std::chrono::seconds(15)));
  bring();
  jobs.join();
}

// With a limit and without.
void with_limits(const std::function<void(std::uint64_t limit)>& test) {
  for (const std::uint64_t limit : {WEFT_FOREVER, std::uint64_t{100'000} * millisecond}) {
    SCOPED_TRACE(testing::Message() << "limit " << limit);
    test(limit);
  }
}

void expect_waiting(const weft_unit* unit) {
  EXPECT_TRUE(eventually([unit] { return weft_unit_state(unit) == WEFT_SUSPENDED; }));
  weft_sleep(20 * millisecond);
}

// So many bytes, without the help of those who serve units; fewer, if nothing comes any more.
std::string read_all(int file, std::size_t size) {
  std::string all;
  const auto comes = [file] {
    pollfd readable{file, POLLIN, 0};
    return ::poll(&readable, 1, 0) == 1;
  };
  while (all.size() < size && eventually(comes, std::chrono::seconds(20))) {
    char bytes[4096];
    const ssize_t count = ::read(file, bytes, sizeof bytes);
    if (count <= 0) break;
    all.append(bytes, static_cast<std::size_t>(count));
  }
  return all;
}

std::string text_of(std::size_t size) {
  std::string text(size, 'x');
  for (std::size_t index = 0; index < size; ++index) text[index] = static_cast<char>('a' + index * 7 % 251 % 26);
  return text;
}

// Bug: the ring's KLT waited in the write itself, and with it all input and output of units.
TEST_F(IoReadyTest, AWriteToATerminalThatWaitsKeepsNobodyElse) {
  const std::string text = text_of(100'000);
  for (const int flags : {0, O_NONBLOCK}) {
    with_limits([&](std::uint64_t limit) {
      const Terminal terminal;
      EXPECT_EQ(fcntl(terminal.second, F_SETFL, O_RDWR | flags), 0);
      Jobs jobs;
      std::size_t count = 0;
      expect_waiting(jobs.start(WEFT_AUTO, [&] {
        EXPECT_EQ(weft_timed_write(terminal.second, text.data(), text.size(), limit, &count), WEFT_OK);
      }));
      std::string got;
      expect_others_go_on([&] { got = read_all(terminal.first, text.size()); });
      jobs.join();
      EXPECT_EQ(count, text.size());
      EXPECT_TRUE(got == text) << got.size();
    });
  }
}

// Bug: the same. What there is, is less than what it waits for; with a limit it is content with that.
TEST_F(IoReadyTest, AReadOfATerminalThatWaitsKeepsNobodyElse) {
  with_limits([](std::uint64_t limit) {
    const Terminal terminal;
    terminal.set([](termios& settings) {
      settings.c_cc[VMIN] = 5;
      settings.c_cc[VTIME] = 255;
    });
    Jobs jobs;
    std::string got(100, ' ');
    jobs.start(WEFT_AUTO, [&] {
      std::size_t count = 0;
      EXPECT_EQ(weft_timed_read(terminal.second, got.data(), got.size(), limit, &count), WEFT_OK);
      got.resize(count);
    });
    weft_sleep(5 * millisecond);
    EXPECT_EQ(::write(terminal.first, "1", 1), 1);
    weft_sleep(20 * millisecond);
    expect_others_go_on([&] { EXPECT_EQ(::write(terminal.first, "2345", 4), 4); });
    jobs.join();
    terminal.set([](termios& settings) { settings.c_cc[VMIN] = 1; });
    got += read_all(terminal.second, 5 - got.size());
    EXPECT_EQ(got, "12345");
  });
}

// Lines, and their end.
TEST_F(IoReadyTest, LinesOfATerminal) {
  for (const std::uint64_t limit : {WEFT_FOREVER, std::uint64_t{100'000} * millisecond}) {
    const Terminal terminal;
    terminal.set([](termios& settings) { settings.c_lflag |= ICANON; });
    Jobs jobs;
    jobs.start(WEFT_AUTO, [&] {
      char bytes[100];
      for (const std::size_t expected : {6U, 2U, 0U}) {
        std::size_t count = 77;
        EXPECT_EQ(weft_timed_read(terminal.second, bytes, sizeof bytes, limit, &count), WEFT_OK);
        EXPECT_EQ(count, expected);
      }
    });
    weft_sleep(5 * millisecond);
    EXPECT_EQ(::write(terminal.first, "hello\nx\n\4", 9), 9);
    jobs.join();
  }
}

// Nobody reads at the other end until all is over.
void write_until_too_late(int file, int other_end, const std::string& text) {
  std::size_t written = 0;
  for (const std::uint64_t limit : {20 * millisecond, std::uint64_t{0}}) {
    std::size_t count = 0;
    int error = WEFT_OK;
    while ((error = weft_timed_write(file, text.data() + written, text.size() - written, limit, &count)) == WEFT_OK)
      written += count;
    EXPECT_EQ(error, WEFT_ERR_TIMEOUT);
  }
  EXPECT_GT(written, 0U);
  EXPECT_LT(written, text.size());
  EXPECT_TRUE(read_all(other_end, written) == text.substr(0, written));
}

// Bug: limits were not kept, by threads because they waited in the write, by the ring as long as nobody read.
TEST_F(IoReadyTest, LimitsOfTerminalsThatNobodyReads) {
  for (const int flags : {0, O_NONBLOCK}) {
    for (const bool without_name : {false, true}) {
      SCOPED_TRACE(testing::Message() << "flags " << flags << (without_name ? " the end without a name" : ""));
      const Terminal terminal;
      const int file = without_name ? terminal.first : terminal.second;
      EXPECT_EQ(fcntl(file, F_SETFL, O_RDWR | flags), 0);
      Jobs jobs;
      jobs.start(WEFT_AUTO, [&] {
        write_until_too_late(file, without_name ? terminal.second : terminal.first, text_of(1U << 20U));
      });
      jobs.join();
    }
  }
}

// Bug: poll(2) says that it is ready where there is room for one byte, and an end of a line takes two: the unit asked
// again and again, beyond its limit.
TEST_F(IoReadyTest, LimitsOfTerminalsThatMakeMoreOfAByte) {
  for (const int flags : {0, O_NONBLOCK}) {
    const Terminal terminal;
    terminal.set([](termios& settings) { settings.c_oflag |= OPOST | ONLCR; });
    EXPECT_EQ(fcntl(terminal.second, F_SETFL, O_RDWR | flags), 0);
    const std::string text = "x" + std::string(100'000, '\n');
    Jobs jobs;
    jobs.start(WEFT_AUTO, [&] {
      for (const std::uint64_t limit : {20 * millisecond, std::uint64_t{0}}) {
        std::size_t count = 0;
        int error = WEFT_OK;
        while (error == WEFT_OK) error = weft_timed_write(terminal.second, text.data(), text.size(), limit, &count);
        EXPECT_EQ(error, WEFT_ERR_TIMEOUT);
      }
    });
    jobs.join();
  }
}

constexpr std::uint64_t most_in_eventfd = UINT64_MAX - 1;

// It has room for 1, but not for the number that is written.
int almost_full_eventfd(int flags) {
  const int file = eventfd(0, flags | EFD_CLOEXEC);
  const std::uint64_t number = most_in_eventfd - 1;
  EXPECT_EQ(::write(file, &number, sizeof number), ssize_t{sizeof number});
  return file;
}

std::uint64_t taken_from_eventfd(int file) {
  std::uint64_t number = 0;
  EXPECT_EQ(::read(file, &number, sizeof number), ssize_t{sizeof number});
  return number;
}

// Bug: with O_NONBLOCK the unit asked again and again; without, threads waited beyond the limit.
TEST_F(IoReadyTest, LimitsOfAnEventfdThatIsFull) {
  for (const int flags : {0, int{EFD_NONBLOCK}}) {
    const int file = almost_full_eventfd(flags);
    Jobs jobs;
    jobs.start(WEFT_AUTO, [&] {
      const std::uint64_t number = 5;
      std::size_t count = 0;
      for (const std::uint64_t limit : {std::uint64_t{0}, 20 * millisecond})
        EXPECT_EQ(weft_timed_write(file, &number, sizeof number, limit, &count), WEFT_ERR_TIMEOUT);
      auto* const nowhere = reinterpret_cast<void*>(8);
      EXPECT_EQ(weft_timed_write(file, nowhere, 8, 20 * millisecond, &count), WEFT_ERR_SYSTEM + EFAULT);
      EXPECT_EQ(weft_timed_write(file, &number, 7, 20 * millisecond, &count), WEFT_ERR_SYSTEM + EINVAL);
    });
    jobs.join();
    EXPECT_EQ(taken_from_eventfd(file), most_in_eventfd - 1);
    close(file);
  }
}

TEST_F(IoReadyTest, AnEventfdThatIsFullIsWrittenToOnceThereIsRoom) {
  for (const int flags : {0, int{EFD_NONBLOCK}}) {
    with_limits([flags](std::uint64_t limit) {
      const int file = almost_full_eventfd(flags);
      Jobs jobs;
      jobs.start(WEFT_AUTO, [&] {
        const std::uint64_t number = 5;
        std::size_t count = 0;
        EXPECT_EQ(weft_timed_write(file, &number, sizeof number, limit, &count), WEFT_OK);
        EXPECT_EQ(count, sizeof number);
      });
      expect_no_cpu_used();
      EXPECT_EQ(taken_from_eventfd(file), most_in_eventfd - 1);
      jobs.join();
      EXPECT_EQ(taken_from_eventfd(file), 5U);
      close(file);
    });
  }
}

// Bug: EINVAL from the ring, which takes no file that tells nobody when it is ready.
TEST_F(IoReadyTest, PollWaitsForOthersBesideAFileThatIsNeverReady) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  FILE* on_disk = tmpfile();
  for (const int file : {null, fileno(on_disk)}) {
    for (const short events : {short{0}, short{POLLPRI}}) {
      Pipe pipe;
      Jobs jobs;
      std::atomic<bool> waits{false};
      jobs.start(WEFT_AUTO, [&] {
        pollfd files[2] = {{file, events, 0}, {pipe.first, POLLIN, 0}};
        std::size_t ready = 0;
        EXPECT_EQ(weft_poll(files, 1, 5 * millisecond, &ready), WEFT_ERR_TIMEOUT);
        EXPECT_EQ(weft_poll(files, 2, 5 * millisecond, &ready), WEFT_ERR_TIMEOUT);
        waits = true;
        EXPECT_EQ(weft_poll(files, 2, WEFT_FOREVER, &ready), WEFT_OK);
        EXPECT_EQ(ready, 1U);
        EXPECT_EQ(files[0].revents, 0);
        EXPECT_EQ(files[1].revents, POLLIN);
      });
      EXPECT_TRUE(eventually([&] { return waits.load(); }));
      weft_sleep(20 * millisecond);
      EXPECT_EQ(::write(pipe.second, "x", 1), 1);
      jobs.join();
    }
  }
  fclose(on_disk);
  close(null);
}

}  // namespace
}  // namespace weft::test
