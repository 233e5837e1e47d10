// Memory of devices (OpenMP 5.2, section 18.8), as far as there are any: the host is the only one.
#pragma once

#include <cstddef>

namespace weft::openmp {

struct DependenceList;

inline constexpr int device_count = 0;  // besides the host
inline constexpr int host_device = device_count;
inline constexpr int initial_device = -1;  // omp_initial_device: the host too
inline constexpr int invalid_device = -4;  // omp_invalid_device
inline constexpr int default_device = -5;  // omp_default_device: what default-device-var says

bool is_host_device(int device);

/// For a routine that does something with memory of the device: whether that is the host. Ends the program where it is
/// not, and must be there (omp_invalid_device, or OMP_TARGET_OFFLOAD=mandatory).
bool has_its_memory_here(int device);

/// The string that stands for a device; nullptr if there is no such device.
const char* device_uid(int device);
/// invalid_device if the string stands for none.
int device_of_uid(const char* uid, std::size_t length);

/// How far the devices are from the host; -1 for those that are not there.
void get_device_distances(int count, const int* devices, int* distances);

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

/// These return the memory; nullptr, after a line that says so, if there is no such device.
void* fill_on_device(void* memory, int value, std::size_t size, int device);
/// In a task.
void* fill_on_device_later(void* memory, int value, std::size_t size, int device, const DependenceList& after);

/// These return 0, or an errno value if there is no such device or an argument makes no sense.
int copy_between_devices(char* to, const char* from, std::size_t size, int to_device, int from_device);
int copy_rectangle(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device);

/// The same in a task. What makes no sense is found before there is one; the pieces of the rectangle are copied.
int copy_between_devices_later(char* to, const char* from, std::size_t size, int to_device, int from_device,
                               const DependenceList& after);
int copy_rectangle_later(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device,
                         const DependenceList& after);

}  // namespace weft::openmp
