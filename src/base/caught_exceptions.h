// What the C++ runtime notes of a thread: the exceptions that are being handled, and how many are under way. They
// belong to a flow of control, and go with a unit that is left in the midst.
#pragma once

/// __cxa_eh_globals of the Itanium C++ ABI (2.2.2).
struct weft_caught_exceptions {
  void* caught;
  unsigned uncaught;
};

/// Of the calling thread. Not there: nothing of the program is C++.
extern "C" [[gnu::weak]] weft_caught_exceptions* __cxa_get_globals() noexcept;  // NOLINT: the ABI's name

namespace weft::base {

/// As long as it lives the caller may leave the thread, for whose next guest nothing is being handled.
class CaughtExceptions {
 public:
  CaughtExceptions() {
    if (__cxa_get_globals == nullptr) return;
    weft_caught_exceptions& here = of_this_thread();
    kept_ = here;
    here = {nullptr, 0};
  }
  ~CaughtExceptions() {
    if (__cxa_get_globals != nullptr) of_this_thread() = kept_;
  }
  CaughtExceptions(const CaughtExceptions&) = delete;
  CaughtExceptions& operator=(const CaughtExceptions&) = delete;

 private:
  // The thread may be another one each time.
  [[gnu::noinline]] static weft_caught_exceptions& of_this_thread() {
    weft_caught_exceptions* here = __cxa_get_globals();
    asm volatile("" : "+r"(here));
    return *here;
  }
  weft_caught_exceptions kept_{nullptr, 0};
};

}  // namespace weft::base
