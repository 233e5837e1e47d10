// include/weft/io.h over core/io.h: names, errors and limits, nothing else.
#include "weft/io.h"

#include "core/io.h"
#include "core/scheduler.h"

namespace core = weft::core;

namespace {

// 0 is the past: it never waits.
std::uint64_t deadline_of(std::uint64_t nanoseconds) {
  return nanoseconds == 0 ? 0 : core::deadline_after(nanoseconds);
}

int error_of(const core::IoResult& result) {
  switch (result.error) {
    case 0:
      return WEFT_OK;
    case core::IoResult::timed_out:
      return WEFT_ERR_TIMEOUT;
    case core::IoResult::no_klt:
      return WEFT_ERR_LIMIT;
    case core::IoResult::no_memory:
      return WEFT_ERR_MEMORY;
    default:
      return WEFT_ERR_SYSTEM + result.error;
  }
}

// What the call hands back is written only on success.
template <class Count, class Call>
int answer(Count* count, Call call) {
  if (!core::may_wait(core::this_unit())) return WEFT_ERR_STACKLESS;
  const core::IoResult result = call();
  if (result.error == 0 && count != nullptr) *count = static_cast<Count>(result.count);
  return error_of(result);
}

}  // namespace

extern "C" int weft_timed_read(int fd, void* buffer, size_t size, uint64_t nanoseconds, size_t* count) {
  if ((buffer == nullptr && size != 0) || count == nullptr) return WEFT_ERR_ARGUMENT;
  return answer(count, [=] { return core::read(fd, buffer, size, deadline_of(nanoseconds)); });
}

extern "C" int weft_read(int fd, void* buffer, size_t size, size_t* count) {
  return weft_timed_read(fd, buffer, size, WEFT_FOREVER, count);
}

extern "C" int weft_timed_write(int fd, const void* buffer, size_t size, uint64_t nanoseconds, size_t* count) {
  if ((buffer == nullptr && size != 0) || count == nullptr) return WEFT_ERR_ARGUMENT;
  return answer(count, [=] { return core::write(fd, buffer, size, deadline_of(nanoseconds)); });
}

extern "C" int weft_write(int fd, const void* buffer, size_t size, size_t* count) {
  return weft_timed_write(fd, buffer, size, WEFT_FOREVER, count);
}

extern "C" int weft_timed_accept(int fd, struct sockaddr* address, socklen_t* length, int flags, uint64_t nanoseconds,
                                 int* connection) {
  if (connection == nullptr || (address != nullptr && length == nullptr)) return WEFT_ERR_ARGUMENT;
  return answer(connection, [=] { return core::accept(fd, address, length, flags, deadline_of(nanoseconds)); });
}

extern "C" int weft_accept(int fd, struct sockaddr* address, socklen_t* length, int flags, int* connection) {
  return weft_timed_accept(fd, address, length, flags, WEFT_FOREVER, connection);
}

extern "C" int weft_timed_connect(int fd, const struct sockaddr* address, socklen_t length, uint64_t nanoseconds) {
  if (address == nullptr) return WEFT_ERR_ARGUMENT;
  return answer(static_cast<int*>(nullptr),
                [=] { return core::connect(fd, address, length, deadline_of(nanoseconds)); });
}

extern "C" int weft_connect(int fd, const struct sockaddr* address, socklen_t length) {
  return weft_timed_connect(fd, address, length, WEFT_FOREVER);
}

extern "C" int weft_poll(struct pollfd* files, size_t count, uint64_t nanoseconds, size_t* ready) {
  if ((files == nullptr && count != 0) || ready == nullptr) return WEFT_ERR_ARGUMENT;
  size_t some = 0;
  const int error = answer(&some, [=] { return core::poll(files, count, deadline_of(nanoseconds)); });
  if (error != WEFT_OK) return error;
  if (some == 0) return WEFT_ERR_TIMEOUT;
  *ready = some;
  return WEFT_OK;
}
