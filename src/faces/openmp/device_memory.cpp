#include "faces/openmp/device_memory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace weft::openmp {
namespace {

bool are_host(int one, int other) { return one == host_device && other == host_device; }

/// The dimensions from `dimension` on. Returns false if a size is too large to be counted in bytes.
bool copy_from_dimension(char* to, const char* from, const RectangleCopy& copy, int dimension) {
  std::size_t to_stride = copy.element_size;
  std::size_t from_stride = copy.element_size;
  for (int inner = dimension + 1; inner < copy.dimensions; ++inner)
    if (__builtin_mul_overflow(to_stride, copy.to_sizes[inner], &to_stride) ||
        __builtin_mul_overflow(from_stride, copy.from_sizes[inner], &from_stride))
      return false;
  to += copy.to_offsets[dimension] * to_stride;
  from += copy.from_offsets[dimension] * from_stride;
  const std::size_t count = copy.volume[dimension];
  if (dimension + 1 == copy.dimensions) {
    memcpy(to, from, count * copy.element_size);
    return true;
  }
  for (std::size_t index = 0; index < count; ++index)
    if (!copy_from_dimension(to + index * to_stride, from + index * from_stride, copy, dimension + 1)) return false;
  return true;
}

}  // namespace

void* allocate_on_device(std::size_t size, int device) { return device == host_device ? malloc(size) : nullptr; }

void free_on_device(void* memory, int device) {
  if (device == host_device) free(memory);
}

int copy_between_devices(char* to, const char* from, std::size_t size, int to_device, int from_device) {
  if (!are_host(to_device, from_device)) return EINVAL;
  memcpy(to, from, size);
  return 0;
}

int copy_rectangle(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device) {
  if (!are_host(to_device, from_device) || copy.dimensions < 1) return EINVAL;
  return copy_from_dimension(to, from, copy, 0) ? 0 : EINVAL;
}

}  // namespace weft::openmp
