// A function of libc's that this library stands in front of.
#pragma once

#include <dlfcn.h>

namespace weft::openmp {

template <class Function>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}

  /// While the library is loaded: dlsym() forgets the calling thread's last dlerror().
  void look_up() { function_ = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_)); }

  Function* get() {
    if (function_ == nullptr) look_up();  // another library's constructor asks, which runs before this one's
    return function_;
  }

 private:
  const char* name_;
  Function* function_ = nullptr;
};

}  // namespace weft::openmp
