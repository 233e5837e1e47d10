#include <pthread.h>

#include "api/convert.h"
#include "core/environment.h"
#include "core/preempt.h"
#include "core/roots.h"
#include "core/scheduler.h"
#include "core/watchdog.h"

#ifndef WEFT_VERSION
#error "the build says which version this is"
#endif

namespace weft::api {

std::atomic<unsigned> initialised{0};

}  // namespace weft::api

using namespace weft;

namespace {

void configure_from_environment() {
  core::Config config;
  core::read_environment(config);
  core::read_preemption_environment();
  core::watchdog_interrupts.store(false, std::memory_order_relaxed);
  core::configure(config);
}

// As the runtime starts, by whichever call that is, or before, by whoever asks what will be; what comes later changes
// nothing.
void configure_once() {
  static pthread_once_t configured = PTHREAD_ONCE_INIT;
  pthread_once(&configured, configure_from_environment);
}

[[gnu::constructor]] void ask_to_be_configured() {
  core::Hooks hooks;
  hooks.starts = configure_once;
  core::configure(core::Config{}, hooks);
}

}  // namespace

extern "C" unsigned weft_worker_count() {
  if (core::runtime.workers == 0) configure_once();
  return core::worker_count();
}

extern "C" int weft_init() {
  api::initialised.fetch_add(1, std::memory_order_acq_rel);
  if (core::this_worker() == nullptr && core::try_enter() == nullptr) {
    api::initialised.fetch_sub(1, std::memory_order_acq_rel);
    return WEFT_ERR_MEMORY;
  }
  return WEFT_OK;
}

extern "C" int weft_finalize() {
  const core::Worker* worker = core::this_worker();
  if (worker != nullptr && !core::is_root(*worker->current)) return WEFT_ERR_STATE;
  unsigned count = api::initialised.load(std::memory_order_relaxed);
  do {
    if (count == 0) return WEFT_ERR_UNINITIALISED;
  } while (!api::initialised.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel));
  return WEFT_OK;
}

extern "C" const char* weft_version() { return WEFT_VERSION; }
