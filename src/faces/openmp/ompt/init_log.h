// OMP_TOOL_VERBOSE_INIT: what was done to find a tool, in LLVM's runtime's words.
#pragma once

#include <cstdio>

namespace weft::openmp::ompt {

class InitLog {
 public:
  InitLog();
  ~InitLog();
  InitLog(const InitLog&) = delete;
  InitLog& operator=(const InitLog&) = delete;

  /// The variable asks for one.
  static bool is_wanted();

  bool is_open() const { return file_ != nullptr; }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...);

 private:
  std::FILE* file_ = nullptr;
  bool closes_ = false;
};

}  // namespace weft::openmp::ompt
