#include "faces/openmp/settings.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>

#include "base/environment.h"
#include "base/panic.h"
#include "core/environment.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/allocator.h"
#include "faces/openmp/allocator_setting.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/hardware_subset.h"
#include "faces/openmp/kmp_affinity.h"
#include "faces/openmp/nthreads_list.h"
#include "faces/openmp/ompt/tool.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/places.h"
#include "faces/openmp/routines.h"

namespace weft::openmp {

using base::read_one_of;
using base::take_one_of;
using base::ValueReader;

constinit Settings settings = {};
constinit GlobalIcv global_icv;

namespace {

constexpr std::uint64_t hybrid_spin_ns = 2000ULL * 1000;

// What the environment gave, before the variables that act on each other are put together.
struct Given {
  bool nested = false;
  bool nested_value = false;
  bool max_active_levels = false;
  bool bind = false;
  bool places = false;
  bool default_device = false;
};
Given given;
bool threads_are_settled = false;  // by OMP_NUM_THREADS, or cut by the quota

/// Where the readers below put ICVs of a data environment.
Icv* read_into = &settings.icv;

// The specification's first, then what LLVM's runtime takes besides.
const char* const boolean_words[] = {"false",  "true",     "0",       "1",   "no",  "yes", "off", "on", ".false.",
                                     ".true.", "disabled", "enabled", ".f.", ".t.", "f",   "t",   "n",  "y"};
const char* const bind_words[] = {"false", "true",   "primary", "close", "spread",
                                  "unset", "master", "0",       "1",     "disabled"};
constexpr int bind_word_count = 10;
constexpr ProcBind bind_of_word[] = {ProcBind::false_, ProcBind::true_, ProcBind::primary, ProcBind::close,
                                     ProcBind::spread, ProcBind::unset, ProcBind::primary, ProcBind::false_,
                                     ProcBind::true_,  ProcBind::false_};
const char* const schedule_words[] = {"static", "dynamic", "guided", "auto"};
const char* const wait_words[] = {"hybrid", "active", "passive", "auto"};  // the last is the first
const char* const offload_words[] = {"default", "mandatory", "disabled"};

// Each reader below reads the whole value, and stores something only if all of it makes sense.

bool read_boolean(ValueReader& value, bool& result) {
  int index = 0;
  if (!read_one_of(value, boolean_words, index)) return false;
  result = index % 2 == 1;
  return true;
}

template <class Integer>
bool read_number(ValueReader& value, Integer& result, long least, long most) {
  long number = 0;
  if (!base::read_number(value, number, least, most)) return false;
  result = static_cast<Integer>(number);
  return true;
}

// No Linux has more (PID_MAX_LIMIT). Members may need one each, for as many as the system still has: all of them.
constexpr long most_threads = 4194304;

bool read_num_threads(ValueReader& value) {
  int list[most_levels_in_list];
  int levels = 0;
  do {
    long number = 0;
    if (levels == most_levels_in_list || !value.take_number(number, 1, most_threads)) return false;
    list[levels++] = static_cast<int>(number);
  } while (value.take(','));
  if (!value.at_end()) return false;
  memcpy(settings.nthreads_list, list, sizeof list[0] * static_cast<std::size_t>(levels));
  settings.nthreads_levels = levels;
  threads_are_settled = true;
  read_into->nthreads = list[0];
  return true;
}

bool read_schedule(ValueReader& value) {
  const bool monotonic = value.take_word("monotonic");
  const bool nonmonotonic = !monotonic && value.take_word("nonmonotonic");
  if ((monotonic || nonmonotonic) && !value.take(':')) return false;
  const int kind = take_one_of(value, schedule_words, 4);
  if (kind == 4) return false;
  const bool is_static = kind == 0;
  long chunk = 0;
  if (value.take(',') && !value.take_number(chunk, 0, INT_MAX)) return false;
  if (!value.at_end()) return false;
  read_into->schedule = static_cast<Schedule>(kind + 1);
  read_into->chunk = chunk == 0 && !is_static ? 1 : static_cast<int>(chunk);
  read_into->monotonic = monotonic;
  read_into->static_is_monotonic = is_static && !monotonic && !nonmonotonic;
  return true;
}

bool read_proc_bind(ValueReader& value) {
  ProcBind list[most_levels_in_list];
  int levels = 0;
  do {
    const int index = levels == most_levels_in_list ? bind_word_count : take_one_of(value, bind_words, bind_word_count);
    if (index == bind_word_count) return false;
    const ProcBind bind = bind_of_word[index];
    const bool stands_alone = bind == ProcBind::false_ || bind == ProcBind::true_;
    if (stands_alone && (levels > 0 || !value.at_end())) return false;
    list[levels++] = bind;
  } while (value.take(','));
  if (!value.at_end()) return false;
  memcpy(settings.bind_list, list, sizeof list[0] * static_cast<std::size_t>(levels));
  settings.bind_levels = levels;
  given.bind = true;
  read_into->bind = list[0];
  return true;
}

bool read_stack_size(ValueReader& value) {
  return base::read_size(value, settings.stack_size, core::least_stack_size, core::most_stack_size);
}

bool read_wait_policy(ValueReader& value) {
  int index = 0;
  if (!read_one_of(value, wait_words, index)) return false;
  settings.wait_policy = static_cast<WaitPolicy>(index % 3);
  settings.wait_policy_given = true;
  return true;
}

bool read_spin_count(ValueReader& value) {
  static const char* const units[] = {"k", "m", "g", "t"};
  constexpr std::uint64_t factors[] = {1000, 1000000, 1000000000, 1000000000000, 1};
  std::uint64_t turns = UINT64_MAX;
  if (!value.take_word("infinite") && !value.take_word("infinity")) {
    long number = 0;
    if (!value.take_number(number, 0, LONG_MAX)) return false;
    const std::uint64_t factor = factors[take_one_of(value, units, 4)];
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(number), factor, &turns)) turns = UINT64_MAX;
  }
  if (!value.at_end()) return false;
  if (__builtin_mul_overflow(turns, spin_turn_ns, &settings.spin_ns)) settings.spin_ns = UINT64_MAX;
  settings.spin_given = true;
  return true;
}

bool read_display(ValueReader& value) {
  settings.display_verbose = value.take_word("verbose");
  if (settings.display_verbose) {
    settings.display = value.at_end();
    return settings.display;
  }
  return read_boolean(value, settings.display);
}

bool read_target_offload(ValueReader& value) {
  int index = 0;
  if (!read_one_of(value, offload_words, index)) return false;
  global_icv.target_offload = static_cast<TargetOffload>(index);
  return true;
}

bool read_default_device(ValueReader& value) {
  if (!read_number(value, read_into->default_device, 0, INT_MAX)) return false;
  given.default_device = true;
  return true;
}

bool read_default_allocator(ValueReader& value) {
  AllocatorHandle handle = null_allocator;
  if (!read_allocator(value, handle)) return false;
  read_into->default_allocator = handle;
  return true;
}

bool read_max_active_levels(ValueReader& value) {
  long levels = 0;
  if (!read_number(value, levels, 0, LONG_MAX)) return false;
  if (levels > supported_active_levels) levels = supported_active_levels;
  read_into->max_active_levels = static_cast<std::uint8_t>(levels);
  given.max_active_levels = true;
  return true;
}

bool read_thread_limit(ValueReader& value) {
  long limit = 0;
  if (!read_number(value, limit, 1, LONG_MAX)) return false;
  read_into->thread_limit = limit > no_thread_limit ? no_thread_limit : static_cast<int>(limit);
  return true;
}

template <class Integer>
bool read_global(ValueReader& value, std::atomic<Integer>& result, long least, long most) {
  Integer number = 0;
  if (!read_number(value, number, least, most)) return false;
  result = number;
  return true;
}

struct Variable {
  const char* name;
  bool (*read)(ValueReader& value);
  const char* expected;
  const char* fallback;  // the default, as text
};

/// NAME_ALL speaks for every device, the host among them (OpenMP 5.2, section 21); NAME itself goes before it.
constexpr const char all_devices[] = "_ALL";
const char* const names_with_all[] = {
    "OMP_NUM_THREADS", "OMP_SCHEDULE",    "OMP_DYNAMIC",   "OMP_MAX_ACTIVE_LEVELS",  "OMP_THREAD_LIMIT",
    "OMP_STACKSIZE",   "OMP_WAIT_POLICY", "OMP_NUM_TEAMS", "OMP_TEAMS_THREAD_LIMIT",
};

void read_for_all_devices(const Variable& variable) {
  if (getenv(variable.name) != nullptr) return;
  for (const char* name : names_with_all) {
    if (strcmp(name, variable.name) != 0) continue;
    char longer[64];
    snprintf(longer, sizeof longer, "%s%s", name, all_devices);
    base::read_variable(longer, variable.expected, variable.fallback, variable.read);
  }
}

// A later line wins over an earlier one that sets the same.
constexpr const char* a_boolean = "true or false";
constexpr const char* own_or_system = "stack size, unless another variable sets it";
const Variable variables[] = {
    {"OMP_NUM_THREADS", read_num_threads, "a list of integers from 1 to 4194304 (64 at most)",
     "(one thread for each CPU that the process may use)"},
    {"OMP_SCHEDULE", read_schedule, "[monotonic:|nonmonotonic:]static|dynamic|guided|auto[,chunk]",
     "dynamic,1 (static in code of LLVM's compilers)"},
    {"OMP_DYNAMIC", [](ValueReader& value) { return read_boolean(value, read_into->dynamic); }, a_boolean, "false"},
    {"OMP_NESTED", [](ValueReader& value) { return given.nested = read_boolean(value, given.nested_value); }, a_boolean,
     "false"},
    {"OMP_MAX_ACTIVE_LEVELS", read_max_active_levels, "an integer from 0 on",
     "1, or all levels where a variable is a list"},
    {"OMP_THREAD_LIMIT", read_thread_limit, "a positive integer", "(no limit)"},
    {"GOMP_STACKSIZE", read_stack_size, core::a_stack_size, own_or_system},
    {"OMP_STACKSIZE", read_stack_size, core::a_stack_size, own_or_system},
    {"OMP_WAIT_POLICY", read_wait_policy, "active, passive, hybrid or auto", "hybrid"},
    {"GOMP_SPINCOUNT", read_spin_count, "a number with k, m, g or t behind it, or infinite", "of OMP_WAIT_POLICY"},
    {"OMP_PROC_BIND", read_proc_bind,
     "true, false, or a list of primary (or master), close, spread and unset (64 at most)",
     "false, or true where OMP_PLACES is set"},
    {"OMP_PLACES", [](ValueReader& value) { return given.places = read_places(value); },
     "threads, cores, ll_caches, numa_domains or sockets, with (COUNT) or not, or a list of places as "
     "{0:4:2},{1,3}:2:8",
     "(threads are not bound)"},
    {"OMP_MAX_TASK_PRIORITY",
     [](ValueReader& value) { return read_number(value, settings.max_task_priority, 0, INT_MAX); },
     "an integer from 0 on", "0"},
    {"OMP_CANCELLATION", [](ValueReader& value) { return read_boolean(value, settings.cancellation); }, a_boolean,
     "false"},
    {"OMP_DEFAULT_DEVICE", read_default_device, "an integer from 0 on", "0"},
    {"OMP_NUM_TEAMS", [](ValueReader& value) { return read_global(value, global_icv.max_teams, 1, INT_MAX); },
     "a positive integer", "(as if it were not set)"},
    {"OMP_TEAMS_THREAD_LIMIT",
     [](ValueReader& value) { return read_global(value, global_icv.teams_thread_limit, 1, INT_MAX); },
     "a positive integer", "(no limit)"},
    {"OMP_ALLOCATOR", read_default_allocator,
     "a predefined allocator, or a memory space as omp_default_mem_space:trait=value,...", "omp_default_mem_alloc"},
    {"OMP_TARGET_OFFLOAD", read_target_offload, "default, mandatory or disabled", "(which is default)"},
    {"OMP_DISPLAY_AFFINITY", [](ValueReader& value) { return read_boolean(value, global_icv.display_affinity); },
     a_boolean, "false"},
    {"OMP_DISPLAY_ENV", read_display, "true, false or verbose", "false"},
    {"WEFT_REPORT", [](ValueReader& value) { return read_boolean(value, settings.report); }, a_boolean, "false"},
    {"WEFT_IDENTITY", [](ValueReader& value) { return read_boolean(value, settings.identities); }, a_boolean, "true"},
    {"WEFT_EXPERIMENT", read_experiment, a_list_of_optimisations, "(nothing is switched off)"},
};

// Those of the core, which also the C API reads.
void read_own_variables() {
  core::Config own;
  own.stack_size = settings.stack_size;
  core::read_environment(own);
  settings.workers = own.workers;
  settings.stack_size = own.stack_size;
}

/// What can be asked for, but not had in this version.
void name_what_is_missing() {
  if (const char* text = getenv("OMP_DEBUG"); text != nullptr && *text != '\0' && strcasecmp(text, "disabled") != 0)
    base::warn("OMP_DEBUG=%s: the interface of debuggers is not supported by this version", text);
  for (const char* name : {"OMP_AVAILABLE_DEVICES", "OMP_THREADS_RESERVE", "GOMP_DEBUG"})
    if (const char* text = getenv(name)) base::warn("%s=%s: not used by weft", name, text);
}

/// KMP_AFFINITY goes before the others, as in LLVM's runtime.
void use_kmp_affinity_alone() {
  char names[64] = "";
  char* end = names;
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
    if (getenv(name) == nullptr) continue;
    end = stpcpy(end, end == names ? "" : ", ");
    end = stpcpy(end, name);
  }
  if (end != names) base::warn("%s: not used, since KMP_AFFINITY is set", names);
  settings.bind_levels = 0;
  settings.icv.bind = use_kmp_affinity() ? ProcBind::true_ : ProcBind::false_;
}

bool some_level_is_bound() {
  if (settings.icv.bind == ProcBind::false_) return false;
  if (settings.bind_levels == 0) return true;
  for (int level = 0; level < settings.bind_levels; ++level)
    if (settings.bind_list[level] != ProcBind::unset) return true;
  return false;
}

/// OMP_PROC_BIND=false says no, whatever the others say; places alone say yes.
void derive_places() {
  if (kmp_affinity_decides()) return use_kmp_affinity_alone();
  ProcBind& bind = settings.icv.bind;
  if (given.bind && bind == ProcBind::false_) return forget_places();
  const char* source = "OMP_PLACES";
  if (!given.places) {
    source = "GOMP_CPU_AFFINITY";
    base::read_variable(source, "CPUs, as 0 3 4-10:2", "(threads are not bound)",
                        [](ValueReader& value) { return given.places = read_cpu_affinity(value); });
  }
  if (!given.places && !some_level_is_bound()) return;
  if (!given.places) {
    source = "OMP_PROC_BIND";
    use_threads_as_places();
  }
  keep_usable_places(source);
  if (!given.bind && places.in_use()) bind = ProcBind::true_;
}

void allow_nesting(bool nested) { read_into->max_active_levels = nested ? supported_active_levels : 1; }

void derive_max_active_levels() {
  if (given.max_active_levels) return;
  const bool lists = settings.nthreads_levels > 1 || settings.bind_levels > 1;
  allow_nesting(given.nested ? given.nested_value : lists);
}

/// There is no device but the host, so none to fall back from (OpenMP 5.2, section 21.2.7).
void derive_default_device(Icv& icv) {
  if (given.default_device) return;
  if (global_icv.target_offload == TargetOffload::mandatory)
    icv.default_device = invalid_device;
  else if (icv.default_device == invalid_device)
    icv.default_device = 0;
}

void use_affinity_format(const char* format) {
  if (!is_affinity_format(format))
    base::warn(
        "OMP_AFFINITY_FORMAT=%s: expected text with fields of the specification, such as %%n or %%{thread_num}; others "
        "are shown as \"undefined\"",
        format);
  set_affinity_format(format);
}

void derive_spin() {
  if (settings.spin_given) return;
  constexpr std::uint64_t of_policy[] = {hybrid_spin_ns, endless_spin_ns, 0};
  settings.spin_ns = of_policy[static_cast<int>(settings.wait_policy)];
}

}  // namespace

int threads_by_default() {
  if (threads_are_settled) return settings.icv.nthreads;
  return os::cut_by_quota(settings.icv.nthreads, core::recent_cpu_quota());
}

void heed_quota() {
  settings.icv.nthreads = threads_by_default();
  threads_are_settled = true;
}

void read_settings() {
  read_kmp_affinity();
  read_hardware_subset();
  settings.icv.nthreads = os::cpus_in_affinity_mask();
  settings.icv.chunk = 1;
  for (const Variable& variable : variables) {
    base::read_variable(variable.name, variable.expected, variable.fallback, variable.read);
    read_for_all_devices(variable);
  }
  read_own_variables();
  if (const char* format = getenv("OMP_AFFINITY_FORMAT")) use_affinity_format(format);
  name_what_is_missing();
  derive_places();
  tell_places_if_verbose();
  ompt::look_for_tool();
  derive_default_device(settings.icv);
  listed_levels.store(settings.nthreads_levels, std::memory_order_relaxed);
  derive_max_active_levels();
  derive_spin();
}

namespace {

enum class When : std::uint8_t { always, before_regions, at_load };

When can_be_set(const char* name) {
  for (const char* early : {"OMP_STACKSIZE", "GOMP_STACKSIZE", "OMP_CANCELLATION", "OMP_DISPLAY_AFFINITY"})
    if (strcmp(name, early) == 0) return When::before_regions;
  for (const char* loaded : {"OMP_PROC_BIND", "OMP_PLACES", "WEFT_REPORT", "WEFT_IDENTITY", "WEFT_EXPERIMENT"})
    if (strcmp(name, loaded) == 0) return When::at_load;
  return When::always;
}

bool read_once_more(const Variable& variable, const char* text, Icv& icv) {
  ValueReader value(text);
  read_into = &icv;
  const bool makes_sense = variable.read(value);
  if (makes_sense && strcmp(variable.name, "OMP_NESTED") == 0) allow_nesting(given.nested_value);
  read_into = &settings.icv;
  return makes_sense;
}

}  // namespace

bool set_later(const char* name, const char* text, Icv* current) {
  if (strcmp(name, "OMP_AFFINITY_FORMAT") == 0) {
    use_affinity_format(text);
    return true;
  }
  const Variable* found = nullptr;
  for (const Variable& variable : variables)
    if (strcmp(variable.name, name) == 0) found = &variable;
  if (found == nullptr) return false;
  const When when = can_be_set(name);
  if (when == When::at_load || (when == When::before_regions && current != nullptr)) {
    base::warn("%s=%s: not used, it can be set only %s", name, text,
               when == When::at_load ? "in the environment that the program starts with" : "before the first region");
    return true;
  }
  if (!read_once_more(*found, text, settings.icv)) {
    base::warn("%s=%s: expected %s; not used", name, text, found->expected);
    return true;
  }
  if (current != nullptr) (void)read_once_more(*found, text, *current);
  if (settings.nthreads_levels > listed_levels.load(std::memory_order_relaxed))
    listed_levels.store(settings.nthreads_levels, std::memory_order_relaxed);
  if (current == nullptr) derive_max_active_levels();
  if (strcmp(name, "OMP_TARGET_OFFLOAD") == 0) {
    derive_default_device(settings.icv);
    if (current != nullptr) derive_default_device(*current);
  }
  if (strcmp(name, "OMP_WAIT_POLICY") == 0) {
    settings.spin_given = false;
    derive_spin();
  }
  if (when == When::before_regions) attend_as_settings_say();
  if (strcmp(name, "OMP_DISPLAY_ENV") == 0 && settings.display) display_settings(settings.display_verbose);
  return true;
}

}  // namespace weft::openmp
