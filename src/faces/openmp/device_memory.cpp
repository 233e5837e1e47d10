#include "faces/openmp/device_memory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/panic.h"
#include "faces/openmp/dependence.h"
#include "faces/openmp/member.h"
#include "faces/openmp/target.h"
#include "faces/openmp/task.h"

namespace weft::openmp {
namespace {

bool are_host(int one, int other) { return has_its_memory_here(one) && has_its_memory_here(other); }

/// In bytes, what is copied and the way to it along one dimension can be counted.
bool is_countable(const RectangleCopy& copy, int dimension, std::size_t to_stride, std::size_t from_stride) {
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(copy.volume[dimension], to_stride, &bytes) &&
         !__builtin_mul_overflow(copy.volume[dimension], from_stride, &bytes) &&
         !__builtin_mul_overflow(copy.to_offsets[dimension], to_stride, &bytes) &&
         !__builtin_mul_overflow(copy.from_offsets[dimension], from_stride, &bytes);
}

/// No size is too large to be counted in bytes. (Bug: volumes and offsets were not looked at, and what was left of them
/// was copied.)
bool makes_sense(const RectangleCopy& copy) {
  if (copy.dimensions < 1) return false;
  std::size_t to_stride = copy.element_size;
  std::size_t from_stride = copy.element_size;
  for (int dimension = copy.dimensions - 1; dimension > 0; --dimension)
    if (!is_countable(copy, dimension, to_stride, from_stride) ||
        __builtin_mul_overflow(to_stride, copy.to_sizes[dimension], &to_stride) ||
        __builtin_mul_overflow(from_stride, copy.from_sizes[dimension], &from_stride))
      return false;
  return is_countable(copy, 0, to_stride, from_stride);
}

/// The dimensions from `dimension` on.
void copy_from_dimension(char* to, const char* from, const RectangleCopy& copy, int dimension) {
  std::size_t to_stride = copy.element_size;
  std::size_t from_stride = copy.element_size;
  for (int inner = dimension + 1; inner < copy.dimensions; ++inner) {
    to_stride *= copy.to_sizes[inner];
    from_stride *= copy.from_sizes[inner];
  }
  to += copy.to_offsets[dimension] * to_stride;
  from += copy.from_offsets[dimension] * from_stride;
  const std::size_t count = copy.volume[dimension];
  if (dimension + 1 == copy.dimensions) {
    memcpy(to, from, count * copy.element_size);
    return;
  }
  for (std::size_t index = 0; index < count; ++index)
    copy_from_dimension(to + index * to_stride, from + index * from_stride, copy, dimension + 1);
}

/// What a task that copies is given. The arrays of a rectangle follow it.
struct Transfer {
  char* to;
  const char* from;
  std::size_t size;
};
struct RectangleTransfer {
  char* to;
  const char* from;
  RectangleCopy copy;
};

void transfer(void* data) {
  const Transfer& what = *static_cast<const Transfer*>(data);
  memcpy(what.to, what.from, what.size);
}

void transfer_rectangle(void* data) {
  const RectangleTransfer& what = *static_cast<const RectangleTransfer*>(data);
  copy_from_dimension(what.to, what.from, what.copy, 0);
}

void keep_rectangle(void* to, void* from) {
  auto* what = new (to) RectangleTransfer(*static_cast<const RectangleTransfer*>(from));
  auto* room = reinterpret_cast<std::size_t*>(what + 1);
  RectangleCopy& copy = what->copy;
  for (const std::size_t** array :
       {&copy.volume, &copy.to_offsets, &copy.from_offsets, &copy.to_sizes, &copy.from_sizes}) {
    const auto count = static_cast<std::size_t>(copy.dimensions);
    memcpy(room, *array, count * sizeof(std::size_t));
    *array = room;
    room += count;
  }
}

void create_task_after(TaskRequest& request, const DependenceList& after) {
  if (after.count != 0) request.depend = &after;
  create_task(this_member(), request);
}

struct Filling {
  void* memory;
  int value;
  std::size_t size;
};

void fill(void* data) {
  const Filling& what = *static_cast<const Filling*>(data);
  memset(what.memory, what.value, what.size);
}

bool is_there(int device) {
  if (has_its_memory_here(device)) return true;
  base::warn("omp_target_memset: there is no device %d", device);
  return false;
}

constexpr char uid_of_host[] = "OMP_INITIAL_DEVICE";

}  // namespace

bool is_host_device(int device) {
  if (device == default_device) device = icv_of(this_member()).default_device;
  return device == host_device || device == initial_device;
}

bool has_its_memory_here(int device) {
  check_device_of_routine(device);
  return is_host_device(device);
}

const char* device_uid(int device) { return is_host_device(device) ? uid_of_host : nullptr; }

int device_of_uid(const char* uid, std::size_t length) {
  const bool is_host = length == sizeof uid_of_host - 1 && memcmp(uid, uid_of_host, length) == 0;
  return is_host ? host_device : invalid_device;
}

void get_device_distances(int count, const int* devices, int* distances) {
  for (int index = 0; index < count; ++index) distances[index] = is_host_device(devices[index]) ? 0 : -1;
}

void* allocate_on_device(std::size_t size, int device) { return has_its_memory_here(device) ? malloc(size) : nullptr; }

void free_on_device(void* memory, int device) {
  if (has_its_memory_here(device)) free(memory);
}

void* fill_on_device(void* memory, int value, std::size_t size, int device) {
  return is_there(device) ? memset(memory, value, size) : nullptr;
}

void* fill_on_device_later(void* memory, int value, std::size_t size, int device, const DependenceList& after) {
  if (!is_there(device)) return nullptr;
  Filling what{memory, value, size};
  TaskRequest request{fill, &what, nullptr, sizeof what, alignof(Filling)};
  create_task_after(request, after);
  return memory;
}

int copy_between_devices(char* to, const char* from, std::size_t size, int to_device, int from_device) {
  if (!are_host(to_device, from_device)) return EINVAL;
  memcpy(to, from, size);
  return 0;
}

int copy_rectangle(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device) {
  if (!are_host(to_device, from_device) || !makes_sense(copy)) return EINVAL;
  copy_from_dimension(to, from, copy, 0);
  return 0;
}

int copy_between_devices_later(char* to, const char* from, std::size_t size, int to_device, int from_device,
                               const DependenceList& after) {
  if (!are_host(to_device, from_device)) return EINVAL;
  Transfer what{to, from, size};
  TaskRequest request{transfer, &what, nullptr, sizeof what, alignof(Transfer)};
  create_task_after(request, after);
  return 0;
}

int copy_rectangle_later(char* to, const char* from, const RectangleCopy& copy, int to_device, int from_device,
                         const DependenceList& after) {
  if (!are_host(to_device, from_device) || !makes_sense(copy)) return EINVAL;
  constexpr std::size_t arrays = 5;
  const std::size_t bytes = arrays * static_cast<std::size_t>(copy.dimensions) * sizeof(std::size_t);
  RectangleTransfer what{to, from, copy};
  TaskRequest request{transfer_rectangle, &what, keep_rectangle, sizeof what + bytes, alignof(RectangleTransfer)};
  create_task_after(request, after);
  return 0;
}

}  // namespace weft::openmp
