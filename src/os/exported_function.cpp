#include "os/exported_function.h"

#include <cstring>
#include <dlfcn.h>

#include "os/libraries.h"

namespace weft::os {
namespace {

struct Wanted {
  const char* name;
  ExportedFunction function;
};

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

int find_size(dl_phdr_info* object, std::size_t, void* argument) {
  auto wanted = static_cast<Wanted*>(argument);
  if (!holds(*object, wanted->function.begin)) return 0;
  const HashTable* table = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  for (const ElfW(Dyn)* entry = dynamic_section(*object); entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_GNU_HASH) table = loaded<HashTable>(*object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = loaded<ElfW(Sym)>(*object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) names = loaded<char>(*object, entry->d_un.d_ptr);
  }
  if (table == nullptr || symbols == nullptr || names == nullptr || table->buckets == 0) return 1;
  const std::uint32_t hash = hash_of(wanted->name);
  std::uint32_t index = table->bucket()[hash % table->buckets];
  if (index < table->first_symbol) return 1;
  for (;; ++index) {
    const std::uint32_t found = table->hashes()[index - table->first_symbol];
    const ElfW(Sym)& symbol = symbols[index];
    if ((found | 1U) == (hash | 1U) && object->dlpi_addr + symbol.st_value == wanted->function.begin &&
        strcmp(names + symbol.st_name, wanted->name) == 0) {
      wanted->function.size = symbol.st_size;
      return 1;
    }
    if ((found & 1U) != 0) return 1;
  }
}

}  // namespace

ExportedFunction find_exported(const char* name) {
  Wanted wanted{name, {reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name)), 0}};
  if (wanted.function.begin != 0) for_each_object(find_size, &wanted);
  return wanted.function;
}

}  // namespace weft::os
