// Where a function lies that a library exports, and how long it is: from the table of symbols that the dynamic linker
// has loaded, by the library's own hash table. (dladdr1(3) knows it too, but looks at every symbol of the library.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::os {

struct ExportedFunction {
  std::uintptr_t begin = 0;  // 0: there is none
  std::uintptr_t size = 0;   // 0: not known

  bool holds(std::uintptr_t instruction) const { return instruction - begin < size; }
};

/// The one that the program calls by that name. Only while a library is loaded: dlsym() forgets the calling thread's
/// last dlerror(), and later another thread that loads one may wait for this one.
ExportedFunction find_exported(const char* name);

struct NamedFunction {
  const char* name;
  ExportedFunction function;  // none, if there is none of that name
};
/// Those of the library that `known` lies in, whoever stands in front of them. One look for all of them.
void find_exported_beside(const ExportedFunction& known, NamedFunction* wanted, std::size_t count);

}  // namespace weft::os
