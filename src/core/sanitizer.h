// What AddressSanitizer and ThreadSanitizer must be told at each change of stack. In other builds
// every function here is empty.
//
// ASan wants both ends of a switch: leave() before it, arrive() first thing after it on the other
// stack. TSan wants to know the fiber that goes on; its call must come from uninstrumented
// code, or the entry and exit that the instrumentation records land on different fibers: the files
// of core/technique are built without it.
#pragma once

#include <cstddef>

#if defined(WEFT_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(WEFT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::core::sanitizer {

/// Identities change the thread pointer, which the sanitizers' own state hangs on.
#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
inline constexpr bool active = true;
#else
inline constexpr bool active = false;
#endif

/// The caller's frames will never return, as ThreadSanitizer expects them to: its stack goes on with another fiber,
/// whose turn comes when the stack is used anew. `left` is where the old one waits for its end, off it.
template <class Stack>
inline void abandon_frames([[maybe_unused]] Stack& stack, [[maybe_unused]] void*& left) {
#if defined(WEFT_TSAN)
  if (left != nullptr) __tsan_destroy_fiber(left);
  left = stack.fiber;
  stack.fiber = __tsan_create_fiber(0);
#endif
}

#if defined(WEFT_TSAN)

inline void* create_fiber() { return __tsan_create_fiber(0); }
inline void destroy_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void* current_fiber() { return __tsan_get_current_fiber(); }
inline void leave(void** /*fake*/, void* fiber, const void*, std::size_t) { __tsan_switch_to_fiber(fiber, 0); }
inline void arrive(void* /*fake*/, const void**, std::size_t*) {}

#elif defined(WEFT_ASAN)

inline void* create_fiber() { return nullptr; }
inline void destroy_fiber(void*) {}
inline void* current_fiber() { return nullptr; }
inline void leave(void** fake, void*, const void* low, std::size_t size) {
  __sanitizer_start_switch_fiber(fake, low, size);
}
inline void arrive(void* fake, const void** low, std::size_t* size) {
  __sanitizer_finish_switch_fiber(fake, low, size);
}

#else

inline void* create_fiber() { return nullptr; }
inline void destroy_fiber(void*) {}
inline void* current_fiber() { return nullptr; }
inline void leave(void**, void*, const void*, std::size_t) {}
inline void arrive(void*, const void**, std::size_t*) {}

#endif

}  // namespace weft::core::sanitizer
