#include "os/exported_function.h"

#include <cstring>
#include <dlfcn.h>
#include <sys/auxv.h>

#include "os/libraries.h"

namespace weft::os {
namespace {

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& object) {
  for (int index = 0; index < object.dlpi_phnum; ++index)
    if (object.dlpi_phdr[index].p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[index].p_vaddr);
  return nullptr;
}

// Some dynamic linkers write the address into the section, some leave what the file says.
template <class T>
const T* loaded(const dl_phdr_info& object, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < object.dlpi_addr ? object.dlpi_addr + address : address);
}

std::uint32_t hash_of(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// The section .gnu.hash: four numbers, a filter, which is not needed here, the first symbol of each bucket, and for
// each symbol its hash, of which the lowest bit says that it is the bucket's last.
struct HashTable {
  std::uint32_t buckets;
  std::uint32_t first_symbol;
  std::uint32_t filter_words;
  std::uint32_t filter_shift;

  const std::uint32_t* bucket() const {
    const auto filter = reinterpret_cast<const ElfW(Addr)*>(this + 1);
    return reinterpret_cast<const std::uint32_t*>(filter + filter_words);
  }
  const std::uint32_t* hashes() const { return bucket() + buckets; }
};

struct Exports {
  std::uintptr_t base = 0;
  const HashTable* table = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;

  bool complete() const { return table != nullptr && symbols != nullptr && names != nullptr && table->buckets != 0; }

  ExportedFunction at(const ElfW(Sym) & symbol) const { return {base + symbol.st_value, symbol.st_size}; }

  // `begin`: where it is to begin, as there may be several of that name; 0: the first. nullptr: there is none.
  const ElfW(Sym) * find(const char* name, std::uintptr_t begin = 0) const {
    const std::uint32_t hash = hash_of(name);
    std::uint32_t index = table->bucket()[hash % table->buckets];
    if (index < table->first_symbol) return nullptr;
    for (;; ++index) {
      const std::uint32_t found = table->hashes()[index - table->first_symbol];
      const ElfW(Sym)& symbol = symbols[index];
      if ((found | 1U) == (hash | 1U) && (begin == 0 || at(symbol).begin == begin) &&
          strcmp(names + symbol.st_name, name) == 0)
        return &symbol;
      if ((found & 1U) != 0) return nullptr;
    }
  }
};

bool is_defined(const ElfW(Sym) & symbol) { return symbol.st_shndx != SHN_UNDEF; }

Exports exports_of(const dl_phdr_info& object) {
  Exports exports;
  exports.base = object.dlpi_addr;
  for (const ElfW(Dyn)* entry = dynamic_section(object); entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_GNU_HASH) exports.table = loaded<HashTable>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) exports.symbols = loaded<ElfW(Sym)>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) exports.names = loaded<char>(object, entry->d_un.d_ptr);
  }
  return exports;
}

struct Look {
  std::uintptr_t inside;
  Exports exports;
};

int look_at_exports(dl_phdr_info* object, std::size_t, void* argument) {
  auto& look = *static_cast<Look*>(argument);
  if (!holds(*object, look.inside)) return 0;
  look.exports = exports_of(*object);
  return 1;
}

Exports exports_around(std::uintptr_t address) {
  Look look{address, {}};
  if (address != 0) for_each_object(look_at_exports, &look);
  return look.exports;
}

struct Definition {
  const char* name;
  ExportedFunction function;
};

// The kernel's own library has functions of these names, too, and nobody gets them by their names.
int look_at_definition(dl_phdr_info* object, std::size_t, void* argument) {
  auto& definition = *static_cast<Definition*>(argument);
  if (holds(*object, getauxval(AT_SYSINFO_EHDR))) return 0;
  const Exports exports = exports_of(*object);
  const ElfW(Sym)* symbol = exports.complete() ? exports.find(definition.name) : nullptr;
  if (symbol == nullptr || !is_defined(*symbol)) return 0;
  definition.function = exports.at(*symbol);
  return 1;
}

// That of the first object that has one.
ExportedFunction find_definition(const char* name) {
  Definition definition{name, {}};
  for_each_object(look_at_definition, &definition);
  return definition.function;
}

}  // namespace

// To a program that is not position-independent and takes a function's address, that is a jump of its own, for all who
// ask. (Bug: malloc() was taken for a part of the program, Debian's Python, say, and its code was not interrupted.)
ExportedFunction find_exported(const char* name) {
  const auto begin = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
  const Exports exports = exports_around(begin);
  const ElfW(Sym)* symbol = exports.complete() ? exports.find(name, begin) : nullptr;
  if (symbol == nullptr) return {begin, 0};
  return is_defined(*symbol) ? exports.at(*symbol) : find_definition(name);
}

void find_exported_beside(const ExportedFunction& known, NamedFunction* wanted, std::size_t count) {
  const Exports exports = exports_around(known.begin);
  if (!exports.complete()) return;
  for (std::size_t index = 0; index < count; ++index) {
    const ElfW(Sym)* symbol = exports.find(wanted[index].name);
    wanted[index].function = symbol != nullptr ? exports.at(*symbol) : ExportedFunction{};
  }
}

}  // namespace weft::os
