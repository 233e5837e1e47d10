// Memory of devices (OpenMP 5.2, section 18.8), as far as there are any: the host is the only one.
#pragma once

#include <cstddef>

namespace weft::openmp {

struct DependenceList;

inline constexpr int device_count = 0;  // besides the host
inline constexpr int host_device = device_count;
inline constexpr int initial_device = -1;  // omp_initial_device: the host too
inline constexpr int invalid_device = -4;  // omp_invalid_device

inline bool is_host_device(int device) { return device == host_device || device == initial_device; }

/// A block of a multidimensional array to be copied into another.
struct RectangleCopy {
  std::size_t element_size;
  int dimensions;
  const std::size_t* volume;
  const std::size_t* to_offsets;
  const std::size_t* from_offsets;
  const std::size_t* to_sizes;
  const std::size_t* from_sizes;
};

/// nullptr if there is no such device or no memory.
void* allocate_on_device(std::size_t size, int device);
void free_on_device(void* memory, int device);

/// These return 0, or an errno value if there is no such device or an argument makes no sense.
int copy_between_devices(char* to, const char* from, std::size_t size, int to_device, int from_device);
int copy_rectangle(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device);

/// The same in a task. What makes no sense is found before there is one; the pieces of the rectangle are copied.
int copy_between_devices_later(char* to, const char* from, std::size_t size, int to_device, int from_device,
                               const DependenceList& after);
int copy_rectangle_later(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device,
                         const DependenceList& after);

}  // namespace weft::openmp
