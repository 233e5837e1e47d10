#include "os/symbol_table.h"

#include <cstddef>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::os {
namespace {

struct File {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;

  /// nullptr: not so many there.
  template <class T>
  const T* at(std::size_t offset, std::size_t count) const {
    if (bytes == nullptr || offset > size || count > (size - offset) / sizeof(T) || offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(bytes + offset);
  }
};

// It stays: the names lie in it.
File map(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat about {};
  void* bytes = MAP_FAILED;
  if (fstat(file, &about) == 0 && about.st_size > 0)
    bytes = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return {};
  return {static_cast<const unsigned char*>(bytes), static_cast<std::size_t>(about.st_size)};
}

// The one that was asked for last is at hand.
const File& file_of(const char* path) {
  constexpr std::size_t longest = 512;
  static char mapped_path[longest];
  static File mapped;
  if (strncmp(mapped_path, path, longest) == 0) return mapped;
  mapped = map(path);
  strncpy(mapped_path, path, longest - 1);
  return mapped;
}

}  // namespace

Symbol symbol_at(const char* path, std::uintptr_t base, std::uintptr_t address) {
  const File& file = file_of(path);
  const auto* header = file.at<ElfW(Ehdr)>(0, 1);
  if (header == nullptr || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return {};
  const std::uintptr_t bias = header->e_type == ET_EXEC ? 0 : base;
  for (unsigned index = 0; index < header->e_shnum; ++index) {
    const auto& section = sections[index];
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum) continue;
    const std::size_t count = section.sh_size / sizeof(ElfW(Sym));
    const auto& strings = sections[section.sh_link];
    const auto* symbols = file.at<ElfW(Sym)>(section.sh_offset, count);
    const auto* names = file.at<char>(strings.sh_offset, strings.sh_size);
    if (symbols == nullptr || names == nullptr || strings.sh_size == 0 || names[strings.sh_size - 1] != '\0') return {};
    for (std::size_t number = 0; number < count; ++number) {
      const auto& symbol = symbols[number];
      if ((symbol.st_info & 0xfU) != STT_FUNC || symbol.st_name >= strings.sh_size) continue;
      if (address - bias - symbol.st_value < symbol.st_size) return {names + symbol.st_name, bias + symbol.st_value};
    }
  }
  return {};
}

}  // namespace weft::os
