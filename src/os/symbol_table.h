// The names of functions that a library or program does not export: from the table of symbols in its file, which a
// stripped one lacks.
#pragma once

#include <cstdint>

namespace weft::os {

struct Symbol {
  const char* name = nullptr;  // nullptr: none is known
  std::uintptr_t begin = 0;
};

/// The function that holds the address, in the object from the file `path` that is loaded at `base`. The name stays
/// valid. Not from a handler.
Symbol symbol_at(const char* path, std::uintptr_t base, std::uintptr_t address);

}  // namespace weft::os
