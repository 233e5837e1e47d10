// weft for C++20: input and output, over weft/io.h. Errors and waiting as in weft/base.hpp; a limit is a std::chrono
// duration, and a call that is out of time says so by its result.
#ifndef WEFT_IO_HPP
#define WEFT_IO_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "weft/base.hpp"
#include "weft/io.h"

namespace weft {
inline namespace WEFT_CONFIGURATION {

namespace detail {

/// What call(result) hands back; nothing if it was out of time.
template <class Result, class Call>
std::optional<Result> result_in_time(Call call) {
  Result result{};
  if (!wait_in_time([&] { return call(&result); })) return std::nullopt;
  return result;
}

template <class Result, class Call>
Result result_of(Call call) {
  Result result{};
  check(wait([&] { return call(&result); }));
  return result;
}

}  // namespace detail

/// How many bytes were read; 0 at the end.
inline std::size_t read(int fd, void* buffer, std::size_t size) {
  return detail::result_of<std::size_t>([=](std::size_t* count) { return weft_read(fd, buffer, size, count); });
}
template <class Rep, class Period>
[[nodiscard]] std::optional<std::size_t> read_for(int fd, void* buffer, std::size_t size,
                                                  const std::chrono::duration<Rep, Period>& limit) {
  const std::uint64_t nanoseconds = detail::nanoseconds(limit);
  return detail::result_in_time<std::size_t>(
      [=](std::size_t* count) { return weft_timed_read(fd, buffer, size, nanoseconds, count); });
}

/// How many bytes were written: all, unless an error or the limit came when some were.
inline std::size_t write(int fd, const void* buffer, std::size_t size) {
  return detail::result_of<std::size_t>([=](std::size_t* count) { return weft_write(fd, buffer, size, count); });
}
template <class Rep, class Period>
[[nodiscard]] std::optional<std::size_t> write_for(int fd, const void* buffer, std::size_t size,
                                                   const std::chrono::duration<Rep, Period>& limit) {
  const std::uint64_t nanoseconds = detail::nanoseconds(limit);
  return detail::result_in_time<std::size_t>(
      [=](std::size_t* count) { return weft_timed_write(fd, buffer, size, nanoseconds, count); });
}

/// The connection's descriptor, which is the caller's to close.
inline int accept(int fd, sockaddr* address = nullptr, socklen_t* length = nullptr, int flags = 0) {
  return detail::result_of<int>([=](int* connection) { return weft_accept(fd, address, length, flags, connection); });
}
template <class Rep, class Period>
[[nodiscard]] std::optional<int> accept_for(int fd, const std::chrono::duration<Rep, Period>& limit,
                                            sockaddr* address = nullptr, socklen_t* length = nullptr, int flags = 0) {
  const std::uint64_t nanoseconds = detail::nanoseconds(limit);
  return detail::result_in_time<int>(
      [=](int* connection) { return weft_timed_accept(fd, address, length, flags, nanoseconds, connection); });
}

inline void connect(int fd, const sockaddr* address, socklen_t length) {
  detail::check(detail::wait([=] { return weft_connect(fd, address, length); }));
}
/// False: it is not connected yet.
template <class Rep, class Period>
[[nodiscard]] bool connect_for(int fd, const sockaddr* address, socklen_t length,
                               const std::chrono::duration<Rep, Period>& limit) {
  const std::uint64_t nanoseconds = detail::nanoseconds(limit);
  return detail::wait_in_time([=] { return weft_timed_connect(fd, address, length, nanoseconds); });
}

/// How many of the files are ready.
inline std::size_t poll(pollfd* files, std::size_t count) {
  return detail::result_of<std::size_t>(
      [=](std::size_t* ready) { return weft_poll(files, count, WEFT_FOREVER, ready); });
}
/// 0: none within that time.
template <class Rep, class Period>
[[nodiscard]] std::size_t poll_for(pollfd* files, std::size_t count, const std::chrono::duration<Rep, Period>& limit) {
  const std::uint64_t nanoseconds = detail::nanoseconds(limit);
  return detail::result_in_time<std::size_t>(
             [=](std::size_t* ready) { return weft_poll(files, count, nanoseconds, ready); })
      .value_or(0);
}

}  // namespace WEFT_CONFIGURATION
}  // namespace weft

#endif
