// OMP_DISPLAY_ENV: one line per variable, as libgomp 12 writes them.
#include <cstdio>
#include <cstdlib>

#include "core/runtime.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/allocator.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/places.h"
#include "faces/openmp/settings.h"

namespace weft::openmp {
namespace {

const char* const bind_names[] = {"FALSE", "TRUE", "MASTER", "CLOSE", "SPREAD", "UNSET"};
const char* const schedule_names[] = {"STATIC", "DYNAMIC", "GUIDED", "AUTO"};
const char* const wait_names[] = {"HYBRID", "ACTIVE", "PASSIVE"};
const char* const offload_names[] = {"DEFAULT", "MANDATORY", "DISABLED"};

void show_text(const char* name, const char* value) { fprintf(stderr, "  %s = '%s'\n", name, value); }
void show_number(const char* name, std::uint64_t value) {
  fprintf(stderr, "  %s = '%llu'\n", name, static_cast<unsigned long long>(value));
}
void show_boolean(const char* name, bool value) { show_text(name, value ? "TRUE" : "FALSE"); }

void show_num_threads() {
  fprintf(stderr, "  OMP_NUM_THREADS = '%d", threads_by_default());
  for (int level = 1; level < settings.nthreads_levels; ++level) fprintf(stderr, ",%d", settings.nthreads_list[level]);
  fputs("'\n", stderr);
}

void show_schedule() {
  const RunSchedule schedule = run_schedule(settings.icv, Dialect::gnu);
  const bool is_static = schedule.kind == Schedule::static_;
  const char* modifier = "";
  if (schedule.monotonic != is_static) modifier = is_static ? "NONMONOTONIC:" : "MONOTONIC:";
  fprintf(stderr, "  OMP_SCHEDULE = '%s%s", modifier, schedule_names[static_cast<int>(schedule.kind) - 1]);
  const int unsaid = is_static ? 0 : 1;
  if (schedule.kind != Schedule::auto_ && schedule.chunk != unsaid) fprintf(stderr, ",%d", schedule.chunk);
  fputs("'\n", stderr);
}

void show_proc_bind() {
  fprintf(stderr, "  OMP_PROC_BIND = '%s", bind_names[static_cast<int>(settings.icv.bind)]);
  for (int level = 1; level < settings.bind_levels; ++level)
    fprintf(stderr, ",%s", bind_names[static_cast<int>(settings.bind_list[level])]);
  fputs("'\n", stderr);
}

void show_affinity_format() {
  char format[512];
  get_affinity_format(Dialect::gnu, format, sizeof format);
  show_text("OMP_AFFINITY_FORMAT", format);
}

void show_verbose() {
  show_text("GOMP_CPU_AFFINITY", "");
  show_number("GOMP_STACKSIZE", settings.stack_size);
  show_number("GOMP_SPINCOUNT", settings.spin_ns == UINT64_MAX ? UINT64_MAX : settings.spin_ns / spin_turn_ns);
  show_number("WEFT_NUM_WORKERS", settings.workers != 0 ? settings.workers : core::worker_count());
  show_number("WEFT_STACKSIZE", settings.stack_size);
  show_boolean("WEFT_REPORT", settings.report);
  show_boolean("WEFT_IDENTITY", settings.identities);
  fputs("  WEFT_EXPERIMENT = '", stderr);
  show_experiment();
  fputs("'\n", stderr);
}

}  // namespace

void display_settings(bool verbose) {
  const Icv& icv = settings.icv;
  const bool limited = icv.thread_limit != no_thread_limit;
  fputs("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n", stderr);
  show_text("_OPENMP", "201511");
  show_boolean("OMP_DYNAMIC", icv.dynamic);
  show_boolean("OMP_NESTED", icv.max_active_levels > 1);
  show_num_threads();
  show_schedule();
  show_proc_bind();
  fputs("  OMP_PLACES = '", stderr);
  show_places();
  fputs("'\n", stderr);
  show_number("OMP_STACKSIZE", settings.stack_size);
  show_text("OMP_WAIT_POLICY", wait_names[static_cast<int>(settings.wait_policy)]);
  show_number("OMP_THREAD_LIMIT", limited ? static_cast<unsigned>(icv.thread_limit) : UINT32_MAX);
  show_number("OMP_MAX_ACTIVE_LEVELS", icv.max_active_levels);
  show_number("OMP_NUM_TEAMS", static_cast<unsigned>(global_icv.max_teams.load()));
  show_number("OMP_TEAMS_THREAD_LIMIT", static_cast<unsigned>(global_icv.teams_thread_limit.load()));
  show_boolean("OMP_CANCELLATION", settings.cancellation);
  fprintf(stderr, "  OMP_DEFAULT_DEVICE = '%d'\n", icv.default_device);
  show_number("OMP_MAX_TASK_PRIORITY", static_cast<unsigned>(settings.max_task_priority));
  show_boolean("OMP_DISPLAY_AFFINITY", global_icv.display_affinity);
  show_affinity_format();
  const AllocatorHandle allocator = icv.default_allocator;
  show_text("OMP_ALLOCATOR",
            allocator <= last_predefined_allocator ? allocator_name(allocator) : getenv("OMP_ALLOCATOR"));
  show_text("OMP_TARGET_OFFLOAD", offload_names[static_cast<int>(global_icv.target_offload)]);
  if (verbose) show_verbose();
  fputs("OPENMP DISPLAY ENVIRONMENT END\n", stderr);
}

}  // namespace weft::openmp
