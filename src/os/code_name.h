// What a piece of code is called.
#pragma once

#include <cstdint>

namespace weft::os {

/// The function and the library that an instruction belongs to; "" where neither the dynamic linker nor the library's
/// file knows it. Not from a handler.
struct CodeName {
  std::uintptr_t begin = 0;  // of the function, or of the library if that is not known
  const char* function = "";
  const char* library = "";
};
CodeName name_of_code(std::uintptr_t instruction);

}  // namespace weft::os
