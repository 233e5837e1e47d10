#include "place.h"

#include "check.h"
#include "program.h"

#include <sched.h>

#include <deque>
#include <mutex>
#include <utility>

namespace native {
namespace {

/// A pool of the program's own. The oldest first, so that whoever yields goes behind all others.
class OldestFirst {
 public:
  static weft_pool* make() {
    const weft_pool_functions functions = {push, pop, size, free};
    weft_pool* pool = nullptr;
    OK(weft_pool_create_custom(&functions, new OldestFirst, &pool));
    return pool;
  }

 private:
  static OldestFirst& of(void* data) { return *static_cast<OldestFirst*>(data); }
  static void push(void* data, weft_unit* unit) {
    const std::lock_guard guard(of(data).mutex_);
    of(data).units_.push_back(unit);
  }
  static weft_unit* pop(void* data) {
    const std::lock_guard guard(of(data).mutex_);
    if (of(data).units_.empty()) return nullptr;
    weft_unit* unit = of(data).units_.front();
    of(data).units_.pop_front();
    return unit;
  }
  static size_t size(void* data) {
    const std::lock_guard guard(of(data).mutex_);
    return of(data).units_.size();
  }
  static void free(void* data) { delete &of(data); }

  std::mutex mutex_;
  std::deque<weft_unit*> units_;
};

}  // namespace

weft_pool* make_pool(Random& random, weft_access access) {
  if (access == WEFT_MPMC && random.one_in(5)) return OldestFirst::make();
  const bool suits_deque = access != WEFT_SPSC && access != WEFT_MPSC;
  weft_pool* pool = nullptr;
  OK(weft_pool_create(static_cast<weft_order>(random.below(suits_deque ? 4 : 3)), access, &pool));
  if (program->preempts && random.one_in(4))
    OK(weft_pool_set_preemption(pool, random.one_in(2) ? WEFT_PREEMPT_SIGNAL_YIELD : WEFT_PREEMPT_KLT_SWITCH));
  return pool;
}

struct Scheduling::Own {
  std::vector<weft_pool*> pools;
  bool waits;  // in the kernel, for a unit
};

void Scheduling::run(weft_scheduler* scheduler, void* own) {
  const auto& [pools, waits] = *static_cast<Own*>(own);
  while (weft_scheduler_stops(scheduler) == 0) {
    weft_unit* unit = nullptr;
    for (size_t i = 0; unit == nullptr && i < pools.size(); ++i) (void)weft_pool_pop(pools[i], &unit);
    if (unit == nullptr && waits) (void)weft_pool_pop_wait(pools[0], 200'000, &unit);
    if (unit != nullptr)
      SAME(weft_unit_run(unit), WEFT_OK);
    else if (!waits)
      sched_yield();
  }
}

Scheduling::Scheduling(Random& random, const std::vector<weft_pool*>& pools, May may) {
  if (!random.one_in(3)) {
    const auto kind = static_cast<weft_scheduler_kind>(random.below(4));
    OK(weft_scheduler_create(kind, pools.size(), pools.data(), &handle));
    return;
  }
  stateless = may == May::run_any_technique || random.one_in(2);
  knows_pools = may != May::not_know_its_pools || random.one_in(2);
  own_ = std::make_shared<Own>(Own{pools, random.one_in(2)});
  const size_t count = knows_pools ? pools.size() : 0;
  OK(weft_scheduler_create_custom(run, own_.get(), stateless ? 1 : 0, count, pools.data(), &handle));
}

void Scheduling::free() const { OK(weft_scheduler_free(handle)); }

Place::Place(Random& random, std::vector<weft_pool*> own_pools, Scheduling::May may, unsigned worker_count)
    : pools(std::move(own_pools)), scheduling(random, pools, may), workers(worker_count) {
  for (weft_worker*& worker : workers) OK(weft_worker_create(scheduling.handle, &worker));
  IS(weft_scheduler_free(scheduling.handle), WEFT_ERR_STATE);
}

void Place::close() {
  for (weft_worker* worker : workers) OK(weft_worker_join(worker));
  scheduling.free();
  for (weft_pool* pool : pools) OK(weft_pool_free(pool));
}

}  // namespace native
