#include "faces/openmp/kmp_defaults.h"

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/panic.h"
#include "core/environment.h"
#include "core/runtime.h"
#include "core/sync/mutex.h"
#include "faces/openmp/kmp_environment.h"
#include "faces/openmp/member.h"
#include "faces/openmp/settings.h"
#include "os/stack_memory.h"

namespace weft::openmp {
namespace {

constexpr std::uint64_t ns_per_ms = 1000ULL * 1000;

core::Mutex mutex;  // one thread at a time sets settings

// (Bug: not if the thread that opened it had ended: stacks had the size that they had, and said another one.)
bool any_region_yet() { return core::runtime.workers != 0; }

void set_spin(std::uint64_t nanoseconds) { core::runtime.spin_ns.store(nanoseconds, std::memory_order_relaxed); }

/// Without the blanks around it; ends where the next character is overwritten.
char* trim(char* begin, char* end) {
  while (begin != end && (*begin == ' ' || *begin == '\t')) ++begin;
  while (begin != end && (end[-1] == ' ' || end[-1] == '\t')) --end;
  *end = '\0';
  return begin;
}

/// Returns whether it is used, or why not has been said.
bool set_one(const char* name, const char* value) {
  Icv* current = any_region_yet() ? &icv_of(this_member()) : nullptr;
  return set_later(name, value, current) || set_kmp_variable_later(name, value, current == nullptr);
}

/// What is kept outside of `settings`, where that has changed.
void carry_over(const Settings& before) {
  if (settings.stack_size != before.stack_size) set_stack_size(settings.stack_size);
  if (settings.spin_ns != before.spin_ns) set_spin(settings.spin_ns);
}

void set_each(char* text) {
  for (char* rest = text; rest != nullptr;) {
    char* entry = strsep(&rest, "|");
    char* end = entry + std::strcspn(entry, "=");
    const bool has_value = *end != '\0';
    const char* name = trim(entry, end);
    if (!has_value && *name == '\0') continue;
    if (!has_value || *name == '\0')
      base::warn("kmp_set_defaults: \"%s\": expected NAME=VALUE; not used", name);
    else if (!set_one(name, end + 1))
      base::warn("kmp_set_defaults: %s: not used by weft", name);
  }
}

}  // namespace

void reset_defaults() { new (&mutex) core::Mutex; }

void set_defaults(const char* text, std::size_t length) {
  char* copy = strndup(text, length);
  if (copy == nullptr) base::panic("no memory for kmp_set_defaults");
  mutex.lock();
  const Settings before = settings;
  set_each(copy);
  carry_over(before);
  mutex.unlock();
  std::free(copy);
}

namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

// Where two variables say the same, in the order that holds when the library is loaded.
bool yields_to_another(const char* name) {
  const auto is = [name](const char* one) { return std::strcmp(name, one) == 0; };
  if (is("KMP_BLOCKTIME")) return is_set("GOMP_SPINCOUNT") || is_set("OMP_WAIT_POLICY");
  if (is("OMP_WAIT_POLICY")) return is_set("GOMP_SPINCOUNT");
  if (is("KMP_STACKSIZE")) return is_set("WEFT_STACKSIZE") || is_set("OMP_STACKSIZE") || is_set("GOMP_STACKSIZE");
  if (is("GOMP_STACKSIZE")) return is_set("WEFT_STACKSIZE") || is_set("OMP_STACKSIZE");
  return is("OMP_STACKSIZE") && is_set("WEFT_STACKSIZE");
}

}  // namespace

// NAME_ALL speaks for NAME where that is not set (settings.cpp).
void set_before_start(const char* entry) {
  constexpr const char all_devices[] = "_ALL";
  const std::size_t length = std::strcspn(entry, "=");
  char name[64];
  if (length >= sizeof name || entry[length] == '\0') return;
  *stpncpy(name, entry, length) = '\0';
  constexpr std::size_t suffix = sizeof all_devices - 1;
  if (length > suffix && std::strcmp(name + length - suffix, all_devices) == 0) {
    name[length - suffix] = '\0';
    if (std::getenv(name) != nullptr) return;
  }
  if (yields_to_another(name)) return;
  const Settings before = settings;
  set_one(name, entry + length + 1);
  carry_over(before);
}

// (Bug: more than a stack can have was taken, and the first task that looked for room ended the process.)
void set_stack_size(std::size_t bytes) {
  if (any_region_yet() || bytes < core::least_stack_size || bytes > core::most_stack_size) return;
  core::runtime.config.stack_size = bytes;
}
std::size_t get_stack_size() {
  const std::size_t size = core::runtime.config.stack_size;
  return size != 0 ? size : os::default_stack_size();
}

void set_block_time(int milliseconds) {
  set_spin(static_cast<std::uint64_t>(milliseconds < 0 ? 0 : milliseconds) * ns_per_ms);
}
int get_block_time() {
  const std::uint64_t spin = core::runtime.spin_ns.load(std::memory_order_relaxed);
  if (spin == endless_spin_ns) return INT_MAX;
  const std::uint64_t milliseconds = spin / ns_per_ms;
  return milliseconds > INT_MAX ? INT_MAX : static_cast<int>(milliseconds);
}

}  // namespace weft::openmp
