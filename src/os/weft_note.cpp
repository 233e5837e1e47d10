#include "os/weft_note.h"

#include <cstring>
#include <elf.h>

namespace weft::os {
namespace {

constexpr char owner[] = "weft";
constexpr std::uint32_t holds_runtime = 1;  // the note's type

// As the note's format has it: three words, then the owner's name and what it says, each filled up to whole words.
struct Note {
  std::uint32_t owner_bytes, content_bytes, type;
  char owner[(sizeof weft::os::owner + 3) / 4 * 4];
};

[[gnu::section(".note.weft"), gnu::used, gnu::retain]] alignas(4) const Note note{
    sizeof owner, 0, holds_runtime, {'w', 'e', 'f', 't'}};

bool is_ours(const ElfW(Nhdr) & header) {
  return header.n_namesz == note.owner_bytes && header.n_type == note.type &&
         memcmp(&header + 1, owner, sizeof owner) == 0;
}

constexpr std::uintptr_t whole_words(std::uintptr_t bytes) { return (bytes + 3) / 4 * 4; }

bool is_among(std::uintptr_t at, std::uintptr_t end) {
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const auto& header = *reinterpret_cast<const ElfW(Nhdr)*>(at);
    if (is_ours(header)) return true;
    at += sizeof header + whole_words(header.n_namesz) + whole_words(header.n_descsz);
  }
  return false;
}

}  // namespace

// Other notes may be filled up to eight bytes: they lie in segments of their own.
bool has_weft_note(const ElfW(Phdr) * headers, unsigned count, std::uintptr_t base) {
  for (unsigned index = 0; index < count; ++index) {
    const auto& segment = headers[index];
    const std::uintptr_t at = base + segment.p_vaddr;
    if (segment.p_type == PT_NOTE && segment.p_align <= 4 && is_among(at, at + segment.p_memsz)) return true;
  }
  return false;
}

bool has_weft_note(const void* begin, std::uintptr_t base) {
  const auto& header = *static_cast<const ElfW(Ehdr)*>(begin);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return false;
  const auto headers = reinterpret_cast<const ElfW(Phdr)*>(static_cast<const char*>(begin) + header.e_phoff);
  return has_weft_note(headers, header.e_phnum, base);
}

}  // namespace weft::os
