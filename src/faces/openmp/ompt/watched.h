// The one question that the runtime asks for tools at each of its events: whether anybody watches.
#pragma once

namespace weft::openmp::ompt {

/// A tool is there, or may be found when the first thread comes to the runtime. Set when the library is loaded, and
/// taken back where the tool says no; never written otherwise.
extern bool watched;

/// Where the program called the runtime.
struct Caller {
  const void* code;  // the return address
  void* frame;       // the canonical frame address of the function called
};

}  // namespace weft::openmp::ompt

/// In a function that the program calls: the frame that its caller's code runs in, if that keeps frame pointers.
#define WEFT_FRAME_OF_CALLER __builtin_frame_address(1)
#pragma GCC diagnostic ignored "-Wframe-address"

/// In a function that the program calls.
#define WEFT_CALLER (::weft::openmp::ompt::Caller{__builtin_return_address(0), __builtin_dwarf_cfa()})
