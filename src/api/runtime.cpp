#include <pthread.h>

#include "api/convert.h"
#include "core/environment.h"
#include "core/preempt.h"
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

// Before the runtime starts; what comes later changes nothing.
void configure_from_environment() {
  if (core::runtime.slots.load(std::memory_order_relaxed) != 0) return;
  core::Config config;
  core::read_environment(config);
  core::read_preemption_environment();
  core::watchdog_interrupts.store(false, std::memory_order_relaxed);
  core::configure(config, core::Hooks{});
}

}  // namespace

extern "C" int weft_init() {
  // Nobody starts the runtime while another is about to configure it.
  static pthread_once_t configured = PTHREAD_ONCE_INIT;
  pthread_once(&configured, configure_from_environment);
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
