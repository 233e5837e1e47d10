// Without waiting where a file does not know how (RWF_NOWAIT): each kind of it has a way of its own, and none sets
// O_NONBLOCK, which belongs to the open file description, so to all who have the file. poll(2) has said that it is
// ready, which does not mean that the call would not wait:
//
// - A pipe (before Linux 6.5) is opened once more, with O_NONBLOCK. So is a pseudo-terminal to be written to, of which
//   nobody sees anything either; other terminals may do something to their line when they are opened, and the end of a
//   pseudo-terminal that has no name would be a new one.
// - A terminal that is read waits for more than there is (VMIN above 1 with VTIME), but not where no more is asked for.
// - One that cannot be opened again is written to byte by byte: for poll(2) it is ready if it has room for one. (One
//   that makes more of a byte, `\r\n` or blanks, may still wait for room; and another may be quicker.) The end without
//   a name makes nothing of them, and where it has room at all the kernel takes 256 (MIN_TTYB_SIZE).
// - An eventfd is ready if it has room for 1; what it holds stands in /proc.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "arch/system_call.h"
#include "os/io.h"

namespace weft::os {
namespace {

template <class T>
long address_of(T* object) {
  return reinterpret_cast<long>(object);
}

struct stat status_of(int file) {
  struct stat status {};
  arch::system_call(SYS_fstat, file, address_of(&status));
  return status;
}

bool is_ready(int file, short events) {
  pollfd one{file, events, 0};
  return poll_files(&one, 1, 0) == 1;
}

// A path of the process's own; negative where it cannot be opened.
int open_by_number(const char* directory, int file, int flags) {
  char path[40];
  snprintf(path, sizeof path, "/proc/self/%s/%d", directory, file);
  return static_cast<int>(arch::system_call(SYS_openat, AT_FDCWD, address_of(path), flags | O_CLOEXEC));
}

// Nobody at the other end of a pipe with a name (ENXIO): the call that waits does not then. No /proc: it does.
template <class Call>
long by_description_of_its_own(int file, int mode, Call call) {
  const int own = open_by_number("fd", file, mode | O_NONBLOCK | O_NOCTTY);
  if (own < 0) return -EOPNOTSUPP;
  const long answer = call(own);
  arch::system_call(SYS_close, own);
  return answer;
}

bool is_terminal(int file) {
  char settings[64];  // more than the kernel's termios
  return arch::system_call(SYS_ioctl, file, TCGETS, address_of(settings)) == 0;
}

// The ends of a pseudo-terminal: Unix 98 terminals have these numbers.
bool is_named_end(const struct stat& status) {
  const unsigned number = major(status.st_rdev);
  return number >= 136 && number <= 143;
}
bool is_end_without_name(const struct stat& status) { return status.st_rdev == makedev(5, 2); }

long read_terminal_now(int file, void* to, std::size_t size) {
  int there = 0;
  if (arch::system_call(SYS_ioctl, file, FIONREAD, address_of(&there)) < 0) return -EOPNOTSUPP;
  // The end, or somebody else has taken it.
  if (there <= 0 && !is_ready(file, POLLIN)) return -EAGAIN;
  return read_file(file, to, std::min(size, static_cast<std::size_t>(std::max(there, 1))));
}

// No more than that at once, so that a limit is looked at in between.
long write_in_pieces(int file, const void* from, std::size_t size, std::size_t size_of_piece) {
  constexpr std::size_t most = 1024;
  const auto* bytes = static_cast<const char*>(from);
  if (size > most) size = most;
  std::size_t count = 0;
  while (count < size) {
    const std::size_t piece = std::min(size_of_piece, size - count);
    const long answer = is_ready(file, POLLOUT) ? write_file(file, bytes + count, piece) : -EAGAIN;
    if (answer <= 0) return count != 0 ? static_cast<long>(count) : answer;
    count += static_cast<std::size_t>(answer);
  }
  return static_cast<long>(count);
}

long write_terminal_now(int file, const struct stat& status, const void* from, std::size_t size) {
  if (is_named_end(status)) {
    const auto write = [&](int own) { return write_file(own, from, size); };
    if (const long answer = by_description_of_its_own(file, O_WRONLY, write); !cannot_tell(answer)) return answer;
  }
  return write_in_pieces(file, from, size, is_end_without_name(status) ? 256 : 1);
}

// False: it is no eventfd, or nobody knows.
bool read_count_of_eventfd(int file, std::uint64_t& count) {
  const int own = open_by_number("fdinfo", file, O_RDONLY);
  if (own < 0) return false;
  char text[512];
  const long size = read_file(own, text, sizeof text - 1);
  arch::system_call(SYS_close, own);
  if (size <= 0) return false;
  text[size] = 0;
  constexpr char name[] = "eventfd-count:";
  const char* at = strstr(text, name);
  if (at != nullptr) count = std::strtoull(at + sizeof name - 1, nullptr, 16);
  return at != nullptr;
}

// -EFAULT: there is nothing at that address, which the caller has from the program.
long read_memory(const void* from, std::uint64_t& to) {
  const iovec here{&to, sizeof to};
  const iovec there{const_cast<void*>(from), sizeof to};
  const long process = arch::system_call(SYS_getpid);
  return arch::system_call(SYS_process_vm_readv, process, address_of(&here), 1, address_of(&there), 1);
}

long write_eventfd_now(int file, const void* from, std::size_t size) {
  std::uint64_t count = 0;
  std::uint64_t added = 0;
  if (!read_count_of_eventfd(file, count)) return -EOPNOTSUPP;
  if (size >= sizeof added) {
    const long answer = read_memory(from, added);
    if (answer != sizeof added && answer != -EFAULT) return -EOPNOTSUPP;
  }
  const bool is_number = added != UINT64_MAX;  // else EINVAL
  return is_number && added >= UINT64_MAX - count ? -EAGAIN : write_file(file, from, size);
}

}  // namespace

long read_by_kind_now(int file, void* to, std::size_t size) {
  const struct stat status = status_of(file);
  if (S_ISFIFO(status.st_mode))
    return by_description_of_its_own(file, O_RDONLY, [&](int own) { return read_file(own, to, size); });
  return S_ISCHR(status.st_mode) && is_terminal(file) ? read_terminal_now(file, to, size) : -EOPNOTSUPP;
}

long write_by_kind_now(int file, const void* from, std::size_t size) {
  const struct stat status = status_of(file);
  if (S_ISFIFO(status.st_mode))
    return by_description_of_its_own(file, O_WRONLY, [&](int own) { return write_file(own, from, size); });
  if (S_ISCHR(status.st_mode) && is_terminal(file)) return write_terminal_now(file, status, from, size);
  const bool only_kernel_has_it = (status.st_mode & S_IFMT) == 0;
  return only_kernel_has_it ? write_eventfd_now(file, from, size) : -EOPNOTSUPP;
}

}  // namespace weft::os
