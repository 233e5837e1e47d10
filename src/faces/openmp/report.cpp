#include "faces/openmp/report.h"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "base/panic.h"
#include "core/klt_pools.h"
#include "core/preempt.h"
#include "core/watchdog_findings.h"
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

// Written as one, so that processes that end at the same time do not mix theirs.
class Report {
 public:
  explicit Report(const char* remark) {
    lines_.add("report: %-24s %d %s%s", "process", static_cast<int>(getpid()), program_invocation_short_name, remark);
  }
  ~Report() { lines_.write(); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  void add(const char* key, unsigned long long value) { lines_.add("report: %-24s %llu", key, value); }
  void add_mostly_stuck_in(const core::WatchdogFindings& findings) {
    lines_.add("report: %-24s %s in %s (%u of the last %u)", "mostly_stuck_in",
               findings.function[0] != '\0' ? findings.function : "a function without a name", findings.library,
               findings.times, findings.of);
  }

 private:
  base::Lines lines_;
};

bool was_used() { return core::runtime.slots.load(std::memory_order_relaxed) != 0; }

}  // namespace

void print_report() {
  if (!was_used()) return;
  const RegionCounters regions = sum_regions();
  const bool nothing_ran = regions.members == 0 && regions.tasks == 0;
  Report report(nothing_ran ? ": no parallel region, no task" : "");
  if (nothing_ran) return;
  const core::Counters units = core::sum_counters();
  report.add("workers", core::worker_count());
  report.add("workers_started", core::runtime.started.load(std::memory_order_relaxed));
  for (unsigned level = 1; level < counted_levels; ++level) {
    if (level > 2 && regions.regions[level] == 0) continue;
    char key[32];
    snprintf(key, sizeof key, "regions_level_%u%s", level, level == counted_levels - 1 ? "_and_deeper" : "");
    report.add(key, regions.regions[level]);
  }
  report.add("members", regions.members);
  report.add("tasks", regions.tasks);
  report.add("units_started", units.units_started);
  report.add("promoted_to_stack", units.promoted_to_stack);
  report.add("promoted_to_identity", units.promoted_to_identity);
  report.add("steals", units.steals);
  report.add("sleeps", units.sleeps);
  if (core::preemption_settings.kind != core::Preemption::none) {
    report.add("preempted_by_time", units.preempted);
    report.add("klts_to_switch_to", core::count_klts().made);
  }
  const core::WatchdogFindings findings = core::watchdog_findings();
  report.add("interrupted_as_stuck", findings.interrupted);
  report.add("of_these_spinning", findings.spinning);
  report.add("stood_in_for_blocked", findings.stood_in);
  report.add("moved_off_a_root", findings.moved);
  if (findings.interrupted == 0) return;
  report.add_mostly_stuck_in(findings);
}

}  // namespace weft::openmp
