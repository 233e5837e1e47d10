#include "faces/openmp/kmp_environment.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "base/environment.h"
#include "base/panic.h"
#include "core/environment.h"
#include "faces/openmp/settings.h"

namespace weft::openmp {

using base::take_one_of;
using base::ValueReader;

namespace {

constexpr std::uint64_t ns_per_us = 1000;
constexpr std::uint64_t ns_per_ms = 1000 * ns_per_us;

// In bytes where no unit is given, unlike OMP_STACKSIZE.
bool read_stack_size(ValueReader& value) {
  static const char* const units[] = {"b", "k", "m", "g", "t", "kb", "mb", "gb", "tb"};
  constexpr int shifts[] = {0, 10, 20, 30, 40, 10, 20, 30, 40, 0};
  long number = 0;
  if (!value.take_number(number, 1, LONG_MAX)) return false;
  const int shift = shifts[take_one_of(value, units, 9)];
  const auto count = static_cast<std::size_t>(number);
  if (!value.at_end() || count > core::most_stack_size >> shift || count << shift < core::least_stack_size)
    return false;
  settings.stack_size = count << shift;
  return true;
}

// How long a thread looks for work before it sleeps.
bool read_block_time(ValueReader& value) {
  static const char* const units[] = {"ms", "us"};
  long number = 0;
  if (value.take_word("infinite") || value.take_word("infinity")) {
    if (!value.at_end()) return false;
    settings.wait_policy = WaitPolicy::active;
    settings.spin_ns = endless_spin_ns;
    return true;
  }
  if (!value.take_number(number, 0, INT_MAX)) return false;
  const std::uint64_t unit = take_one_of(value, units, 2) == 1 ? ns_per_us : ns_per_ms;
  if (!value.at_end()) return false;
  settings.spin_ns = static_cast<std::uint64_t>(number) * unit;
  return true;
}

// Anything but these means true, as there.
bool means_true(const char* text) {
  if (text == nullptr) return false;
  for (const char* no : {"", "0", "false", "off", "no", "f", "n", ".false."})
    if (strcasecmp(text, no) == 0) return false;
  return true;
}

void throttle_tasks(bool yes) { settings.plenty_of_tasks = yes ? usual_plenty_of_tasks : std::uint64_t{1} << 32U; }

// What is read here; and what only asks for what is so anyway: one runtime in the process, which starts afresh in a
// forked child.
bool is_known(const char* name, std::size_t length) {
  for (const char* known :
       {"KMP_STACKSIZE", "KMP_BLOCKTIME", "KMP_SETTINGS", "KMP_VERSION", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK",
        "KMP_WARNINGS", "KMP_AFFINITY", "KMP_HW_SUBSET", "KMP_ENABLE_TASK_THROTTLING"})
    if (std::strlen(known) == length && std::strncmp(known, name, length) == 0) return true;
  return false;
}

void name_those_not_used() {
  char names[512];
  std::size_t used = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "KMP_", 4) != 0 && std::strncmp(*entry, "LIBOMP_", 7) != 0) continue;
    const std::size_t length = std::strcspn(*entry, "=");
    if (is_known(*entry, length) || used + length + 3 > sizeof names) continue;
    if (used != 0) used = static_cast<std::size_t>(stpcpy(names + used, ", ") - names);
    std::memcpy(names + used, *entry, length);
    used += length;
  }
  if (used != 0) base::warn("%.*s: not used by weft", static_cast<int>(used), names);
}

constexpr const char* a_block_time = "a number of milliseconds, or with us behind it, or infinite";

}  // namespace

bool set_kmp_variable_later(const char* name, const char* text, bool before_regions) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  ValueReader value(text);
  if (is("KMP_BLOCKTIME")) {
    if (!read_block_time(value)) base::warn("%s=%s: expected %s; not used", name, text, a_block_time);
  } else if (is("KMP_STACKSIZE")) {
    if (!before_regions)
      base::warn("%s=%s: not used, it can be set only before the first region", name, text);
    else if (!read_stack_size(value))
      base::warn("%s=%s: expected %s; not used", name, text, core::a_stack_size);
  } else if (is("KMP_ENABLE_TASK_THROTTLING")) {
    throttle_tasks(means_true(text));
  } else if (is("KMP_SETTINGS")) {
    if (means_true(text)) display_settings(false);
  } else {
    return false;
  }
  return true;
}

void read_kmp_environment() {
  if (settings.stack_size == 0)
    base::read_variable("KMP_STACKSIZE", core::a_stack_size, "stack size, unless another variable sets it",
                        read_stack_size);
  const WaitPolicy policy = settings.wait_policy;
  const std::uint64_t spin_ns = settings.spin_ns;
  base::read_variable("KMP_BLOCKTIME", a_block_time, "of OMP_WAIT_POLICY", read_block_time);
  if (settings.wait_policy_given || settings.spin_given) {
    settings.wait_policy = policy;
    settings.spin_ns = spin_ns;
  }
  if (const char* throttling = std::getenv("KMP_ENABLE_TASK_THROTTLING")) throttle_tasks(means_true(throttling));
  if (means_true(std::getenv("KMP_SETTINGS"))) settings.display = true;
  if (means_true(std::getenv("KMP_VERSION"))) base::warn("the OpenMP runtime of this process is weft");
  name_those_not_used();
}

}  // namespace weft::openmp
