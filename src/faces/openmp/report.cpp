#include "faces/openmp/report.h"

#include <cstdio>

#include "base/panic.h"
#include "core/klt_switch.h"
#include "core/preempt.h"
#include "core/watchdog.h"
#include "core/workers.h"

namespace weft::openmp {
namespace {

RegionCounters sum_regions() {
  RegionCounters sum;
  core::for_each_worker([&sum](const core::Worker& worker) {
    if (worker.face == nullptr) return;
    const RegionCounters& counters = static_cast<WorkerCache*>(worker.face)->counters;
    for (unsigned level = 0; level < counted_levels; ++level) sum.regions[level] += counters.regions[level];
    sum.members += counters.members;
    sum.tasks += counters.tasks;
  });
  return sum;
}

void line(const char* key, unsigned long long value) { base::warn("report: %-24s %llu", key, value); }

}  // namespace

void print_report() {
  const RegionCounters regions = sum_regions();
  const core::Counters units = core::sum_counters();
  line("workers", core::configured_workers());
  line("workers_started", core::runtime.started.load(std::memory_order_relaxed));
  for (unsigned level = 1; level < counted_levels; ++level) {
    if (level > 2 && regions.regions[level] == 0) continue;
    char key[32];
    snprintf(key, sizeof key, "regions_level_%u%s", level, level == counted_levels - 1 ? "_and_deeper" : "");
    line(key, regions.regions[level]);
  }
  line("members", regions.members);
  line("tasks", regions.tasks);
  line("units_started", units.units_started);
  line("promoted_to_stack", units.promoted_to_stack);
  line("promoted_to_identity", units.promoted_to_identity);
  line("steals", units.steals);
  line("sleeps", units.sleeps);
  if (core::preemption_settings.kind != core::Preemption::none) {
    line("preempted_by_time", units.preempted);
    line("klts_to_switch_to", core::count_klts().made);
  }
  const core::WatchdogFindings findings = core::watchdog_findings();
  line("interrupted_as_stuck", findings.interrupted);
  line("stood_in_for_blocked", findings.stood_in);
  line("moved_off_a_root", findings.moved);
  if (findings.interrupted == 0) return;
  base::warn("report: %-24s %s in %s (%u of the last %u)", "mostly_stuck_in",
             findings.function[0] != '\0' ? findings.function : "a function without a name", findings.library,
             findings.times, findings.of);
}

}  // namespace weft::openmp
