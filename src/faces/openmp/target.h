// Target regions (OpenMP 5.2, section 13.8). The host is the only device: a region runs on the thread
// that meets it, or in a task of that thread's, and what it maps is the program's own memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

struct DependenceList;

/// The device of a construct, as a device clause says it. Ends the program where it must not run on the
/// host instead (omp_invalid_device, or OMP_TARGET_OFFLOAD=mandatory).
void check_device_of_construct(int device);
/// The same for a routine that is to do something with the memory of the device.
void check_device_of_routine(int device);
/// The same where no clause says it: default-device-var.
void check_default_device();

/// A variable that the region gets a copy of.
struct PrivateCopy {
  std::size_t index;  // of its address among those that the region gets
  std::size_t size;
  std::size_t alignment;  // a power of two
};

/// A target region. `addresses` are those of the variables it maps; its body gets a pointer to them.
struct TargetRegion {
  void (*body)(void*);
  void** addresses;
  std::size_t count;
  /// The `number`-th of those to copy; false: there are no more.
  bool (*next_copy)(const TargetRegion& region, std::size_t& position, PrivateCopy& copy);
  const void* context = nullptr;  // of next_copy
  int thread_limit = 0;           // 0: as OMP_THREAD_LIMIT says
};

/// Runs the region on the calling thread. With dependences it waits for them first.
void run_target(const TargetRegion& region, const DependenceList* depend);

/// Runs it in a task of its own (nowait).
void create_target_task(const TargetRegion& region, const DependenceList* depend);

/// A construct that only moves data: nothing is to be moved, but its dependences count.
void move_data(const DependenceList* depend, bool nowait);

}  // namespace weft::openmp
