// A worker that is asked to end (Claims::ends) does so when it finds nothing to run (scheduler.cpp). Only while the
// caller is the only root, and no other can become one (Runtime::entrance): so no thread of the program's publishes
// anything meanwhile. But units of nobody's region may wait for something, suspended, which a timer, the kernel, or a
// worker of the program's own makes ready, relying on a worker that has been counted, or is awake, and ends. So when
// all have ended, somebody looks once more, and starts a KLT where there is something.
#include "core/give_back.h"

#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/place_pools.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/worker_klts.h"
#include "core/workers.h"
#include "os/barrier.h"

namespace weft::core {
namespace {

void release_caches(Worker& worker, os::AwaitedEnds* awaited) {
  worker.stacks.release_all();
  while (os::Identity* identity = worker.identities.spares) {
    worker.identities.spares = identity->next;
    --worker.identities.spare_count;
    end_or_share_identity(identity, awaited);
  }
}

}  // namespace

void give_back(os::AwaitedEnds* awaited) {
  {
    SpinGuard guard(runtime.entrance);
    if (runtime.roots.load(std::memory_order_relaxed) == 1) {
      for_each_worker([awaited](Worker& worker) {
        if (worker.use.load(std::memory_order_relaxed) == WorkerUse::of_weft) end_klt(worker, release_caches, awaited);
      });
      end_shared_identities(awaited);
    }
  }
  release_caches(*this_worker(), awaited);
  StackCache::release_depots();
  // What a timer, or the kernel, has made ready for one that was about to end: nobody slept who could be told.
  os::heavy_fence();
  if (something_waits()) notify();
}

}  // namespace weft::core
