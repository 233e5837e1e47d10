// Pools: the C API.
#include "api/convert.h"
#include "core/scheduler.h"

using namespace weft;
using api::handle_of;
using api::pool_of;
using api::unit_of;

namespace {

bool order_of(weft_order order, core::Order& converted) {
  switch (order) {
    case WEFT_FIFO:
      converted = core::Order::fifo;
      return true;
    case WEFT_LIFO:
      converted = core::Order::lifo;
      return true;
    case WEFT_PRIORITY:
      converted = core::Order::priority;
      return true;
    case WEFT_DEQUE:
      converted = core::Order::deque;
      return true;
  }
  return false;
}

bool access_of(weft_access access, core::Access& converted) {
  switch (access) {
    case WEFT_PRIV:
      converted = core::Access::priv;
      return true;
    case WEFT_SPSC:
      converted = core::Access::spsc;
      return true;
    case WEFT_MPSC:
      converted = core::Access::mpsc;
      return true;
    case WEFT_SPMC:
      converted = core::Access::spmc;
      return true;
    case WEFT_MPMC:
      converted = core::Access::mpmc;
      return true;
  }
  return false;
}

// What schedulers and pools hand about is ready, or has never run.
void mark_ready(core::Unit& unit) { unit.state.store(core::UnitState::ready, std::memory_order_relaxed); }

}  // namespace

extern "C" int weft_pool_create(weft_order order, weft_access access, weft_pool** pool) {
  core::Order converted_order{};
  core::Access converted_access{};
  if (pool == nullptr || !order_of(order, converted_order) || !access_of(access, converted_access) ||
      !core::Pool::valid(converted_order, converted_access))
    return WEFT_ERR_ARGUMENT;
  core::Pool* made = core::Pool::create(converted_order, converted_access);
  if (made == nullptr) return WEFT_ERR_MEMORY;
  *pool = handle_of(made);
  return WEFT_OK;
}

extern "C" int weft_pool_create_custom(const weft_pool_functions* functions, void* data, weft_pool** pool) {
  if (pool == nullptr || functions == nullptr || functions->push == nullptr || functions->pop == nullptr ||
      functions->size == nullptr)
    return WEFT_ERR_ARGUMENT;
  // The same functions, but for the name of what they are given.
  const core::PoolFunctions converted = {reinterpret_cast<void (*)(void*, core::Unit*)>(functions->push),
                                         reinterpret_cast<core::Unit* (*)(void*)>(functions->pop), functions->size,
                                         functions->free};
  core::Pool* made = core::Pool::create_custom(converted, data);
  if (made == nullptr) return WEFT_ERR_MEMORY;
  *pool = handle_of(made);
  return WEFT_OK;
}

extern "C" int weft_pool_free(weft_pool* handle) {
  if (handle == nullptr) return WEFT_ERR_ARGUMENT;
  if (!pool_of(handle)->looks_empty()) return WEFT_ERR_STATE;
  pool_of(handle)->destroy();
  return WEFT_OK;
}

extern "C" int weft_pool_push(weft_pool* handle, weft_unit* unit) {
  if (handle == nullptr || unit == nullptr) return WEFT_ERR_ARGUMENT;
  mark_ready(*unit_of(unit));
  pool_of(handle)->push(unit_of(unit));
  core::notify_pool(*pool_of(handle));
  return WEFT_OK;
}

extern "C" int weft_pool_push_many(weft_pool* handle, size_t count, weft_unit* const* units) {
  if (handle == nullptr || (count != 0 && units == nullptr)) return WEFT_ERR_ARGUMENT;
  if (count == 0) return WEFT_OK;
  for (size_t index = 0; index < count; ++index)
    if (units[index] == nullptr) return WEFT_ERR_ARGUMENT;
  for (size_t index = 0; index < count; ++index) {
    mark_ready(*unit_of(units[index]));
    unit_of(units[index])->next = index + 1 < count ? unit_of(units[index + 1]) : nullptr;
  }
  pool_of(handle)->push_many(unit_of(units[0]), unit_of(units[count - 1]), count);
  core::notify_pool(*pool_of(handle), count);
  return WEFT_OK;
}

extern "C" int weft_pool_pop(weft_pool* handle, weft_unit** unit) {
  if (handle == nullptr || unit == nullptr) return WEFT_ERR_ARGUMENT;
  core::Unit* popped = pool_of(handle)->pop();
  if (popped == nullptr) return WEFT_ERR_EMPTY;
  *unit = handle_of(popped);
  return WEFT_OK;
}

extern "C" int weft_pool_pop_many(weft_pool* handle, size_t most, weft_unit** units, size_t* count) {
  if (handle == nullptr || count == nullptr || (most != 0 && units == nullptr)) return WEFT_ERR_ARGUMENT;
  constexpr size_t most_at_once = 1U << 30U;
  const auto wanted = static_cast<unsigned>(most < most_at_once ? most : most_at_once);
  *count = pool_of(handle)->pop_many(reinterpret_cast<core::Unit**>(units), wanted);
  return *count != 0 ? WEFT_OK : WEFT_ERR_EMPTY;
}

extern "C" int weft_pool_pop_wait(weft_pool* handle, uint64_t nanoseconds, weft_unit** unit) {
  if (handle == nullptr || unit == nullptr) return WEFT_ERR_ARGUMENT;
  core::Unit* popped = pool_of(handle)->pop_wait(nanoseconds);
  if (popped == nullptr) return WEFT_ERR_TIMEOUT;
  *unit = handle_of(popped);
  return WEFT_OK;
}

extern "C" size_t weft_pool_size(const weft_pool* handle) { return handle != nullptr ? pool_of(handle)->size() : 0; }
