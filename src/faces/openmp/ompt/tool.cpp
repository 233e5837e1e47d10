// A tool is looked for where the specification says, in this order: a function ompt_start_tool among the symbols of the
// process, then in each of OMP_TOOL_LIBRARIES. The first that answers is the tool.
//
// Loading the library only asks whether there may be one, since the program's own constructors, perhaps the tool's
// among them, have not run by then. The tool is started by the first thread that comes to the runtime. If it does not
// want to be, or nothing was found, `watched` is taken back, and from then on everything is as without.
#include "faces/openmp/ompt/tool.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <strings.h>

#include "base/panic.h"
#include "faces/openmp/ompt/entry_points.h"
#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/init_log.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/ompt/sanitized_program.h"
#include "faces/openmp/ompt/threads.h"
#include "faces/openmp/ompt/watched.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/routines.h"
#include "faces/openmp/settings.h"

// The program's, or that of a library that it is linked against or that was preloaded.
extern "C" [[gnu::weak, gnu::visibility("default")]] weft::openmp::ompt::StartToolResult* ompt_start_tool(unsigned,
                                                                                                          const char*);

namespace weft::openmp::ompt {

constinit bool watched = false;

namespace {

using StartTool = StartToolResult* (*)(unsigned omp_version, const char* runtime_version);

constexpr unsigned interface_version = 202011;  // OpenMP 5.1
constexpr const char* runtime_version = "weft";
constexpr const char* start_tool_name = "ompt_start_tool";

bool enabled = true;  // OMP_TOOL
StartToolResult* started = nullptr;
bool active = false;
bool finished = false;

bool is_given(const char* text) { return text != nullptr && *text != '\0'; }

// OMP_TOOL.
bool is_enabled() {
  const char* text = getenv("OMP_TOOL");
  if (!is_given(text) || strcasecmp(text, "enabled") == 0) return true;
  if (strcasecmp(text, "disabled") == 0) return false;
  base::warn("OMP_TOOL=%s: expected enabled or disabled; using the default enabled", text);
  return true;
}

const void* library_of(const void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Other runtimes in the process, idle as they are, have a function of that name too: for their own search.
bool is_of_a_runtime(StartTool start) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(start), &info) == 0) return false;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool same = library_of(dlsym(library, "__kmpc_fork_call")) == info.dli_fbase;
  dlclose(library);
  return same;
}

StartTool in_address_space() {
  StartTool start =
      ompt_start_tool != nullptr ? ompt_start_tool : reinterpret_cast<StartTool>(dlsym(RTLD_DEFAULT, start_tool_name));
  return start != nullptr && is_of_a_runtime(start) ? nullptr : start;
}

StartToolResult* call(StartTool start) { return start(interface_version, runtime_version); }

StartToolResult* start_from_library(InitLog& log, const char* path) {
  log.add("Opening %s... ", path);
  void* library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) {
    const char* error = dlerror();
    log.add("Failed: %s\n", error);
    if (!log.is_open()) base::warn("OMP_TOOL_LIBRARIES: %s", error);
    return nullptr;
  }
  log.add("Success. \n");
  log.add("Searching for %s in %s... ", start_tool_name, path);
  const auto start = reinterpret_cast<StartTool>(dlsym(library, start_tool_name));
  if (start == nullptr) {
    log.add("Failed: %s\n", dlerror());
    dlclose(library);
    return nullptr;
  }
  if (StartToolResult* result = call(start); result != nullptr) {
    log.add("Success. \n");
    return result;
  }
  log.add("Found but not using the OMPT interface.\nContinuing search...\n");
  dlclose(library);
  return nullptr;
}

StartToolResult* start_from_libraries(InitLog& log) {
  const char* list = getenv("OMP_TOOL_LIBRARIES");
  if (!is_given(list)) {
    log.add("No OMP_TOOL_LIBRARIES defined.\n");
    return nullptr;
  }
  log.add("Searching tool libraries...\n");
  log.add("OMP_TOOL_LIBRARIES = %s\n", list);
  char* copy = strdup(list);
  if (copy == nullptr) base::panic("no memory for OMP_TOOL_LIBRARIES");
  StartToolResult* result = nullptr;
  char* rest = nullptr;
  for (char* path = strtok_r(copy, ":", &rest); path != nullptr && result == nullptr;
       path = strtok_r(nullptr, ":", &rest))
    result = start_from_library(log, path);
  free(copy);
  return result;
}

// As LLVM's runtime does: a program with ThreadSanitizer gets the tool that makes it understand OpenMP.
StartToolResult* start_archer(InitLog& log) {
  constexpr const char* archer = "libarcher.so";
  if (!program_is_thread_sanitized()) return nullptr;
  void* library = dlopen(archer, RTLD_LAZY);
  if (library == nullptr) return nullptr;
  log.add("Opening %s... Success.\n", archer);
  const auto start = reinterpret_cast<StartTool>(dlsym(library, start_tool_name));
  return start != nullptr ? call(start) : nullptr;
}

StartToolResult* find(InitLog& log) {
  log.add("Search for OMP tool in current address space... ");
  if (const StartTool start = in_address_space(); start != nullptr)
    if (StartToolResult* result = call(start); result != nullptr) {
      log.add("Success. \n");
      return result;
    }
  log.add("Failed.\n");
  StartToolResult* result = start_from_libraries(log);
  if (result == nullptr) result = start_archer(log);
  if (result == nullptr) log.add("...searching tool libraries failed.\n");
  return result;
}

bool begins(StartToolResult& tool) {
  return tool.initialize(look_up, routines::get_initial_device(), &tool.tool_data) != 0;
}

void start() {
  InitLog log;
  log.add("----- START LOGGING OF TOOL REGISTRATION -----\n");
  if (!enabled) {
    log.add("OMP tool disabled. \n");
  } else {
    started = find(log);
    if (started == nullptr) log.add("No OMP tool loaded.\n");
  }
  if (started != nullptr) log.add("Tool was started and is using the OMPT interface.\n");
  log.add("----- END LOGGING OF TOOL REGISTRATION -----\n");
  active = started != nullptr && begins(*started);
  if (active) {
    adapt_to_sanitized_program();
    return;
  }
  watched = false;
  attend_as_settings_say();
}

}  // namespace

void look_for_tool() {
  enabled = is_enabled();
  watched = (enabled && (in_address_space() != nullptr || is_given(getenv("OMP_TOOL_LIBRARIES")) ||
                         program_is_thread_sanitized())) ||
            InitLog::is_wanted();
  attend_as_settings_say();
}

void start_tool_once() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
}

bool tool_is_active() { return active && !finished; }

void finish_tool() {
  if (!tool_is_active()) return;
  finished = true;
  end_initial_task_here();
  end_all_threads();
  for (std::atomic<Function>& callback : callbacks) callback.store(nullptr, std::memory_order_release);
  if (started->finalize != nullptr) started->finalize(&started->tool_data);
}

}  // namespace weft::openmp::ompt
