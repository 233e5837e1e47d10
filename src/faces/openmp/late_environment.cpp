#include "faces/openmp/late_environment.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <unistd.h>

#include "faces/openmp/kmp_defaults.h"

namespace weft::openmp {
namespace {

// More than anybody sets; beyond them nothing is known to have changed.
constexpr unsigned most_entries = 64;
std::uint64_t entries_at_load[most_entries];
unsigned entry_count = 0;

bool concerns_openmp(const char* entry) {
  for (const char* prefix : {"OMP_", "GOMP_", "KMP_"})
    if (std::strncmp(entry, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

// FNV-1a, by G. Fowler, L. C. Noll and K.-P. Vo.
std::uint64_t fingerprint_of(const char* text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3;
  return hash;
}

bool was_there(const char* entry) {
  const std::uint64_t fingerprint = fingerprint_of(entry);
  for (unsigned index = 0; index < entry_count; ++index)
    if (entries_at_load[index] == fingerprint) return true;
  return false;
}

// visit(entry): NAME=VALUE.
template <class Visit>
void for_each_entry(Visit visit) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (concerns_openmp(*entry)) visit(*entry);
}

}  // namespace

void note_environment() {
  for_each_entry([](const char* entry) {
    if (entry_count < most_entries) entries_at_load[entry_count++] = fingerprint_of(entry);
  });
}

void take_changes_of_environment() {
  if (entry_count == most_entries) return;
  for_each_entry([](const char* entry) {
    if (!was_there(entry)) set_before_start(entry);
  });
}

}  // namespace weft::openmp
