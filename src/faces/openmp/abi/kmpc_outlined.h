// A region's outlined body with its arguments, as LLVM's compilers pass it.
#pragma once

#include <cstdarg>
#include <cstddef>

#include "arch/call.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/member.h"
#include "faces/openmp/thread_number.h"

namespace weft::openmp {

/// Lies on the stack of the opener, which outlives the region.
struct Outlined {
  Microtask function;
  void* const* arguments;
  std::size_t count;
};

/// What the runtime runs on each member; `data` is an Outlined.
inline void call_outlined(void* data) {
  auto outlined = static_cast<const Outlined*>(data);
  Gtid thread = thread_number();
  auto number = static_cast<std::int32_t>(this_member().number);
  weft_call_with_pointers(outlined->function, &thread, &number, outlined->arguments, outlined->count);
}

/// The same where a tool is told of the frame that the body is called from: few arguments are passed by a function
/// of the compiler's, whose frame that is.
void call_watched_outlined(void* data);

}  // namespace weft::openmp

/// Declares `outlined` from the arguments behind `function` of a variadic entry point.
#define WEFT_TAKE_OUTLINED(outlined, function, count)                                             \
  const auto outlined##_count = static_cast<std::size_t>(count);                                  \
  auto outlined##_list = static_cast<void**>(__builtin_alloca(outlined##_count * sizeof(void*))); \
  va_list outlined##_rest;                                                                        \
  va_start(outlined##_rest, function);                                                            \
  for (std::size_t index = 0; index < outlined##_count; ++index)                                  \
    outlined##_list[index] = va_arg(outlined##_rest, void*);                                      \
  va_end(outlined##_rest);                                                                        \
  weft::openmp::Outlined outlined { function, outlined##_list, outlined##_count }
