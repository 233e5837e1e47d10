// One-line messages: the only way in which weft speaks to a user from inside a process.
#pragma once

#include <cstddef>

namespace weft::base {

/// Lines of warn() that are written later, or not at all.
class Lines {
 public:
  /// `weft: ` and the formatted text. Where there is no more room, what is there is written first.
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...);
  void append(const char* line, std::size_t length);
  /// All of them with a single write(2); then there are none.
  void write();

 private:
  static constexpr std::size_t capacity = 4096;
  char text_[capacity] = "";
  std::size_t length_ = 0;
};

/// What is written when the program has closed stderr, as many do in their last handler of exit(3), goes there all the
/// same. Once.
void keep_stderr();

/// Until the next call, the lines of warn() go there; nullptr: to stderr, at once. While no other thread is in weft.
void collect_warnings(Lines* lines);

/// Writes `weft: ` and the formatted text as one line to stderr with a single write(2).
/// Any thread; async-signal-safe as far as the conversions used are (integers, strings).
[[gnu::format(printf, 1, 2)]] void warn(const char* format, ...);

/// As warn(), then ends the process at once with exit status 1 (no atexit handlers run: the
/// state that they would walk is what has just been found broken).
[[noreturn, gnu::format(printf, 1, 2)]] void panic(const char* format, ...);

/// As warn(), then exit(EXIT_FAILURE): the program has asked for what there is not, or for its end in such a case.
/// Nothing is broken, and what it has printed is to be seen.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...);

/// True for the first caller only: of several threads that find at once that the process cannot go
/// on, one says so. The others should wait for the end. Async-signal-safe.
bool first_to_end();
/// Whether there has been one. Async-signal-safe.
bool is_ending();

}  // namespace weft::base
