#include "os/code_name.h"

#include <dlfcn.h>

#include "os/symbol_table.h"

namespace weft::os {

CodeName name_of_code(std::uintptr_t instruction) {
  CodeName name;
  name.begin = instruction;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(instruction), &info) == 0) return name;
  name.begin = reinterpret_cast<std::uintptr_t>(info.dli_saddr != nullptr ? info.dli_saddr : info.dli_fbase);
  if (info.dli_sname != nullptr) name.function = info.dli_sname;
  if (info.dli_fname == nullptr) return name;
  name.library = info.dli_fname;
  if (info.dli_sname == nullptr) {
    const Symbol symbol = symbol_at(info.dli_fname, reinterpret_cast<std::uintptr_t>(info.dli_fbase), instruction);
    if (symbol.name == nullptr) return name;
    name.begin = symbol.begin;
    name.function = symbol.name;
  }
  return name;
}

}  // namespace weft::os
