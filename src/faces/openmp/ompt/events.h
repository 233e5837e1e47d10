// The events of OMPT, each with the callback that a tool has registered for it, if any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/preempt.h"
#include "faces/openmp/ompt/interface.h"

namespace weft::openmp::ompt {

inline constexpr unsigned event_numbers = 38;  // from 1 on

/// By number. Written by the tool, which may do so while other threads run.
extern std::atomic<Function> callbacks[event_numbers];

template <class... Arguments>
struct Event {
  unsigned number;

  explicit operator bool() const { return callbacks[number].load(std::memory_order_relaxed) != nullptr; }
  void operator()(Arguments... arguments) const {
    const Function callback = callbacks[number].load(std::memory_order_acquire);
    if (callback == nullptr) return;
    const core::HeldOff held;
    reinterpret_cast<void (*)(Arguments...)>(callback)(arguments...);
  }
};

using Code = const void*;  // where the program goes on after the call
using MutexEvent = Event<MutexKind, std::uint64_t, Code>;
using SyncEvent = Event<SyncKind, Endpoint, Data*, Data*, Code>;

inline constexpr Event<ThreadKind, Data*> thread_begin{1};
inline constexpr Event<Data*> thread_end{2};
inline constexpr Event<Data*, const Frame*, Data*, unsigned, unsigned, Code> parallel_begin{3};
inline constexpr Event<Data*, Data*, unsigned, Code> parallel_end{4};
inline constexpr Event<Data*, const Frame*, Data*, int, int, Code> task_create{5};
inline constexpr Event<Data*, TaskStatus, Data*> task_schedule{6};
inline constexpr Event<Endpoint, Data*, Data*, unsigned, unsigned, int> implicit_task{7};
inline constexpr unsigned control_tool_number = 11;  // its callback returns something
inline constexpr SyncEvent sync_region_wait{16};
inline constexpr MutexEvent mutex_released{17};
inline constexpr Event<Data*, const Dependence*, int> dependences{18};
inline constexpr Event<Data*, Data*> task_dependence{19};
inline constexpr Event<WorkKind, Endpoint, Data*, Data*, std::uint64_t, Code> work{20};
inline constexpr Event<Endpoint, Data*, Data*, Code> masked{21};
inline constexpr SyncEvent sync_region{23};
inline constexpr Event<MutexKind, unsigned, unsigned, std::uint64_t, Code> lock_init{24};
inline constexpr MutexEvent lock_destroy{25};
inline constexpr Event<MutexKind, unsigned, unsigned, std::uint64_t, Code> mutex_acquire{26};
inline constexpr MutexEvent mutex_acquired{27};
inline constexpr Event<Endpoint, std::uint64_t, Code> nest_lock{28};
inline constexpr Event<Data*, Code> flush{29};
inline constexpr Event<Data*, int, Code> cancel{30};
inline constexpr SyncEvent reduction{31};
inline constexpr Event<Data*, Data*, DispatchKind, Data> dispatch{32};
inline constexpr Event<Severity, const char*, std::size_t, Code> error{37};

}  // namespace weft::openmp::ompt
