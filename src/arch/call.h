// A call whose number of arguments is known only when it is made.
#pragma once

#include <cstddef>

extern "C" {
/// function(first, second, rest[0], ... rest[count - 1]), by the C calling convention of the platform.
void weft_call_with_pointers(void (*function)(), void* first, void* second, void* const* rest, std::size_t count)
    __attribute__((visibility("hidden")));
}
