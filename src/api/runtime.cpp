#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "api/convert.h"
#include "base/panic.h"
#include "core/scheduler.h"

#ifndef WEFT_VERSION
#error "the build says which version this is"
#endif

namespace weft::api {

std::atomic<unsigned> initialised{0};

namespace {

// WEFT_NUM_WORKERS and WEFT_STACKSIZE (KiB, or with K, M, G); what makes no sense is named, and not used.
unsigned read_workers() {
  const char* text = std::getenv("WEFT_NUM_WORKERS");
  if (text == nullptr) return 0;
  char* end = nullptr;
  errno = 0;
  const unsigned long number = std::strtoul(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && number > 0 && number <= core::most_workers)
    return static_cast<unsigned>(number);
  base::warn("WEFT_NUM_WORKERS=%s: expected a number from 1 to %u; not used", text, core::most_workers);
  return 0;
}

std::size_t read_stack_size() {
  const char* text = std::getenv("WEFT_STACKSIZE");
  if (text == nullptr) return 0;
  char* end = nullptr;
  errno = 0;
  const unsigned long number = std::strtoul(text, &end, 10);
  unsigned shift = 10;
  if (*end == 'm' || *end == 'M') shift = 20;
  if (*end == 'g' || *end == 'G') shift = 30;
  if (*end != '\0' && strchr("kKmMgG", *end) != nullptr) ++end;
  const bool fits = number > 0 && number <= (std::size_t{1} << 40U) >> shift;
  if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && fits) return std::size_t{number} << shift;
  base::warn("WEFT_STACKSIZE=%s: expected a size in KiB, or with K, M or G; not used", text);
  return 0;
}

}  // namespace
}  // namespace weft::api

using namespace weft;

extern "C" int weft_init() {
  if (api::initialised.fetch_add(1, std::memory_order_acq_rel) == 0 &&
      core::runtime.slots.load(std::memory_order_relaxed) == 0) {
    core::Config config;
    config.workers = api::read_workers();
    config.stack_size = api::read_stack_size();
    core::configure(config, core::Hooks{});
  }
  if (core::this_worker() == nullptr && core::try_enter() == nullptr) {
    api::initialised.fetch_sub(1, std::memory_order_acq_rel);
    return WEFT_ERR_MEMORY;
  }
  return WEFT_OK;
}

extern "C" int weft_finalize() {
  const core::Worker* worker = core::this_worker();
  if (worker != nullptr && !worker->current->root) return WEFT_ERR_STATE;
  unsigned count = api::initialised.load(std::memory_order_relaxed);
  do {
    if (count == 0) return WEFT_ERR_UNINITIALISED;
  } while (!api::initialised.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel));
  return WEFT_OK;
}

extern "C" const char* weft_version() { return WEFT_VERSION; }
