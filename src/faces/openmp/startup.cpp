// What happens when the library is loaded, and when the process ends. Loading starts no KLT and reads only the
// environment; everything else waits for the first region, also what quota of CPUs there is. A constructor of another
// library's may run before those here, and open one: then this comes first (root.cpp). What there is to say about the
// environment waits, too: under `weft run` the library is loaded into each short-lived helper of a script, where none
// of it matters.
#include "faces/openmp/startup.h"

#include "base/panic.h"
#include "core/environment.h"
#include "core/identities.h"
#include "core/preempt.h"
#include "core/runtime.h"
#include "faces/openmp/members.h"
#include "faces/openmp/ompt/tool.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/places.h"
#include "faces/openmp/kmp_environment.h"
#include "faces/openmp/late_environment.h"
#include "faces/openmp/report.h"
#include "faces/openmp/root.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"
#include "faces/openmp/threadprivate.h"

namespace weft::openmp {
namespace {

constinit base::Lines about_environment;

void start() {
  about_environment.write();
  heed_quota();
  take_changes_of_environment();
  make_nobodys_team();
}

constinit bool loaded = false;

}  // namespace

[[gnu::constructor]] void load_once() {
  if (loaded) return;
  loaded = true;
  base::collect_warnings(&about_environment);
  note_environment();
  read_settings();
  read_kmp_environment();
  note_initial_thread();
  core::Config config;
  config.workers = settings.workers;
  // As without places: the thread that starts the runtime may be bound by then.
  if (places.in_use()) config.cpus = static_cast<unsigned>(places.usable_cpus);
  config.places = places.count;
  config.first_place = places.initial;
  config.stack_size = settings.stack_size;
  config.stack_setting = "OMP_STACKSIZE or WEFT_STACKSIZE";
  config.spin_ns = settings.spin_ns;
  core::Hooks hooks;
  hooks.starts = start;
  hooks.root_ends = root_ends;
  hooks.starts_afresh = start_afresh;
  hooks.forked = forked;
  hooks.take_place = bind_to_place;
  if (places.in_use()) hooks.klt_starts = bind_new_klt;
  core::configure(config, hooks);
  core::read_preemption_environment();
  choose_members(core::preemption_settings.kind);
  if (!settings.identities) core::identities_enabled = false;
  base::collect_warnings(nullptr);
  if (settings.report) base::keep_stderr();
  if (settings.display) display_settings(settings.display_verbose);
}

namespace {

[[gnu::destructor]] void unload() {
  if (core::Worker* worker = core::this_worker(); worker != nullptr) run_tasks_left(*worker);
  ompt::finish_tool();
  if (settings.report) print_report();
}

}  // namespace
}  // namespace weft::openmp
