// Input and output: what is written comes out again, once and in order, and who waits for it finds its end. A forked
// child (steps_fork.cpp) has the same files for a while, so an end may come later; but it comes.
#include "check.h"
#include "files.h"
#include "step.h"

#include <weft/io.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace native {
namespace {

// Nobody else has these files: what has been written is there.
void write_and_read(Actor& actor, const FilePair& files) {
  const std::uint64_t seed = actor.random.next();
  std::array<std::uint8_t, 100> out;
  std::array<std::uint8_t, 100> in{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = byte_of(seed, i);
  const size_t size = actor.random.between(1, out.size());
  size_t count = 0;
  OK(weft_write(files.writer, out.data(), size, &count));
  SAME(count, size);
  OK(weft_read(files.reader, in.data(), in.size(), &count));
  SAME(count, size);
  MUST(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size), in.begin()));
}

void find_nothing(Actor& actor, const FilePair& files) {
  const std::uint64_t limit = actor.random.below(100'000);
  char byte = 0;
  size_t count = 1000;
  MUST(!IN_TIME(limit, weft_timed_read(files.reader, &byte, 1, limit, &count)));
  pollfd file{files.reader, POLLIN, 0};
  MUST(!IN_TIME(limit, weft_poll(&file, 1, limit, &count)));
  SAME(count, 1000);
}

}  // namespace

void use_file(Actor& actor) {
  const FilePair files(actor.random);
  if (!files.is_open()) return;
  const char byte = 0;
  size_t count = 0;
  if (!actor.waits) {
    IS(weft_write(files.writer, &byte, 1, &count), WEFT_ERR_STACKLESS);
    return;
  }
  if (actor.random.one_in(2)) find_nothing(actor, files);
  write_and_read(actor, files);
}

namespace {

struct Stream {
  FilePair files;
  std::uint64_t seed;
  size_t size;
};

size_t write_some(Actor& actor, int file, const std::uint8_t* from, size_t size) {
  size_t count = 0;
  const std::uint64_t limit = actor.random.below(200'000);
  if (actor.random.one_in(3)) {
    if (!IN_TIME(limit, weft_timed_write(file, from, size, limit, &count))) return 0;
    MUST(count >= 1 && count <= size);
    return count;
  }
  OK(weft_write(file, from, size, &count));
  SAME(count, size);
  return count;
}

void write_stream(Actor& actor, Stream& stream) {
  std::vector<std::uint8_t> piece;
  for (size_t written = 0; written < stream.size;) {
    if (actor.random.one_in(8)) dwell(actor);
    piece.resize(std::min<size_t>(stream.size - written, actor.random.between(1, 20'000)));
    for (size_t i = 0; i < piece.size(); ++i) piece[i] = byte_of(stream.seed, written + i);
    written += write_some(actor, stream.files.writer, piece.data(), piece.size());
  }
  stream.files.close_writer();
}

void read_stream(Actor& actor, Stream& stream) {
  std::vector<std::uint8_t> piece(actor.random.between(1, 20'000));
  size_t read = 0;
  for (;;) {
    if (actor.random.one_in(8)) dwell(actor);
    const size_t count = read_some(actor, stream.files.reader, piece.data(), piece.size());
    if (count == 0) break;
    for (size_t i = 0; i < count; ++i) SAME(piece[i], byte_of(stream.seed, read + i));
    read += count;
  }
  SAME(read, stream.size);
}

void write_or_read(Actor& actor) {
  auto& stream = shared_of<Stream>(actor);
  actor.job->index == 0 ? write_stream(actor, stream) : read_stream(actor, stream);
}

}  // namespace

// The creator may be the one that reads.
void pass_stream(Actor& actor) {
  Stream stream{FilePair(actor.random), actor.random.next(), actor.random.between(1, 60'000)};
  if (!stream.files.is_open()) return;
  const bool reads = actor.random.one_in(2);
  Team team(actor, {.body = write_or_read, .shared = &stream, .waits = true});
  team.create(reads ? 1 : 2);
  if (reads) read_stream(actor, stream);
  team.end();
}

namespace {

// Any number write to it, each a byte of its own, and any number read.
struct Crowd {
  FilePair files;
  unsigned writers;
  size_t size;  // of what each writes
  std::atomic<unsigned> writing;
  std::array<std::atomic<size_t>, 4> read{};
};

void write_own_byte(Actor& actor, Crowd& crowd) {
  std::vector<std::uint8_t> bytes(crowd.size, static_cast<std::uint8_t>(actor.job->index));
  for (size_t written = 0; written < crowd.size;)
    written += write_some(actor, crowd.files.writer, bytes.data(),
                          std::min<size_t>(crowd.size - written, actor.random.between(1, 5000)));
  if (crowd.writing.fetch_sub(1) == 1) crowd.files.close_writer();
}

void count_bytes(Actor& actor, Crowd& crowd) {
  std::vector<std::uint8_t> bytes(actor.random.between(1, 5000));
  while (const size_t count = read_some(actor, crowd.files.reader, bytes.data(), bytes.size()))
    for (size_t i = 0; i < count; ++i) {
      MUST(bytes[i] < crowd.writers);
      crowd.read[bytes[i]].fetch_add(1);
    }
}

void be_in_crowd(Actor& actor) {
  auto& crowd = shared_of<Crowd>(actor);
  actor.job->index < crowd.writers ? write_own_byte(actor, crowd) : count_bytes(actor, crowd);
}

}  // namespace

void share_file(Actor& actor) {
  const unsigned writers = actor.random.between(1, 4);
  Crowd crowd{FilePair(actor.random), writers, actor.random.between(1, 20'000), writers};
  if (!crowd.files.is_open()) return;
  run_team(actor, {.body = be_in_crowd, .shared = &crowd, .waits = true}, writers + actor.random.between(1, 4));
  for (unsigned writer = 0; writer < writers; ++writer) SAME(crowd.read[writer].load(), crowd.size);
}

namespace {

struct Signals {
  std::vector<std::unique_ptr<FilePair>> files;
};

void write_byte(Actor& actor) {
  const auto& signals = shared_of<Signals>(actor);
  dwell(actor);
  if (actor.random.one_in(2)) OK(weft_sleep(actor.random.below(200'000)));
  const auto byte = static_cast<std::uint8_t>(actor.job->index);
  size_t count = 0;
  OK(weft_write(signals.files[actor.job->index]->writer, &byte, 1, &count));
  SAME(count, 1);
}

// Reads from those that are ready, which are not waited for any more. How many they were.
size_t read_ready(std::vector<pollfd>& files) {
  size_t count = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].revents == 0) continue;
    SAME(files[i].revents, POLLIN);
    std::uint8_t byte = 255;
    size_t read = 0;
    OK(weft_timed_read(files[i].fd, &byte, 1, 0, &read));
    SAME(byte, i);
    files[i].fd = -1;
    ++count;
  }
  return count;
}

void poll_until_all_are_read(Actor& actor, const Signals& signals) {
  std::vector<pollfd> files;
  for (const auto& pair : signals.files) files.push_back({pair->reader, POLLIN, 0});
  for (size_t left = files.size(); left > 0;) {
    const std::uint64_t limit = actor.random.one_in(3) ? WEFT_FOREVER : actor.random.below(300'000);
    size_t ready = 0;
    if (!IN_TIME(limit, weft_poll(files.data(), files.size(), limit, &ready))) continue;
    SAME(read_ready(files), ready);
    left -= ready;
  }
}

}  // namespace

void poll_files(Actor& actor) {
  Signals signals;
  for (unsigned left = actor.random.between(1, 12); left > 0; --left) {
    signals.files.push_back(std::make_unique<FilePair>(actor.random));
    if (!signals.files.back()->is_open()) return;
  }
  Team team(actor, {.body = write_byte, .shared = &signals, .waits = true});
  const auto count = static_cast<unsigned>(signals.files.size());
  actor.random.one_in(2) ? team.create_many(count) : team.create(count);
  poll_until_all_are_read(actor, signals);
  team.end();
}

namespace {

void wait_for_end(Actor& actor) {
  std::uint8_t byte = 0;
  SAME(read_some(actor, shared_of<FilePair>(actor).reader, &byte, 1), 0);
}

}  // namespace

// What has a socket can be told to go by shutdown(2), which a child's descriptors do not keep open.
void shut_down(Actor& actor) {
  FilePair files(actor.random);
  if (!files.is_open() || !files.sockets) return;
  Team team(actor, {.body = wait_for_end, .shared = &files, .waits = true});
  team.create(actor.random.between(1, 4));
  dwell(actor);
  SAME(shutdown(files.reader, SHUT_RDWR), 0);
  team.end();
  const char byte = 0;
  size_t count = 0;
  IS(weft_write(files.writer, &byte, 1, &count), WEFT_ERR_SYSTEM + EPIPE);
}

}  // namespace native
