// GCC's entry points for target constructs.
#include <climits>
#include <cstddef>
#include <cstdint>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_depend.h"
#include "faces/openmp/ompt/records.h"
#include "faces/openmp/target.h"

namespace weft::openmp {
namespace {

// As gcc numbers them.
constexpr int by_default_device_variable = -1;
constexpr int on_host = -2;  // if(false), or omp_initial_device
constexpr unsigned flag_nowait = 1;
constexpr unsigned kind_mask = 0xff;
constexpr unsigned kind_firstprivate = 12;
constexpr unsigned alignment_shift = 8;
constexpr std::uintptr_t argument_device_mask = 0x7f;
constexpr std::uintptr_t argument_value_follows = 0x80;
constexpr std::uintptr_t argument_id_mask = 0xff00;
constexpr std::uintptr_t argument_thread_limit = 0x200;
constexpr unsigned argument_value_shift = 16;

void check(int device) {
  if (device == by_default_device_variable)
    check_default_device();
  else if (device != on_host)
    check_device_of_construct(device);
}

struct Kinds {
  const std::size_t* sizes;
  const unsigned short* kinds;  // nullptr: none is firstprivate
};

bool next_firstprivate(const TargetRegion& region, std::size_t& position, PrivateCopy& copy) {
  const Kinds& of = *static_cast<const Kinds*>(region.context);
  for (; of.kinds != nullptr && position < region.count; ++position) {
    const unsigned kind = of.kinds[position];
    if ((kind & kind_mask) != kind_firstprivate || region.addresses[position] == nullptr) continue;  // it is absent
    copy = {position, of.sizes[position], std::size_t{1} << (kind >> alignment_shift)};
    ++position;
    return true;
  }
  return false;
}

/// What the thread_limit clause says, as far as it is meant for every device; 0: nothing.
int thread_limit_of(void** arguments) {
  if (arguments == nullptr) return 0;
  while (*arguments != nullptr) {
    const auto word = reinterpret_cast<std::uintptr_t>(*arguments++);
    auto value = static_cast<std::intptr_t>(word) >> argument_value_shift;
    if ((word & argument_value_follows) != 0) value = reinterpret_cast<std::intptr_t>(*arguments++);
    if ((word & argument_device_mask) != 0 || (word & argument_id_mask) != argument_thread_limit) continue;
    return value > INT_MAX ? INT_MAX : static_cast<int>(value);
  }
  return 0;
}

/// Depend clauses, if there are any.
class Depend {
 public:
  explicit Depend(void** depend) : given_(depend != nullptr) {
    if (given_) list_ = list_of(depend);
  }
  const DependenceList* list() const { return given_ ? &list_ : nullptr; }

 private:
  bool given_;
  DependenceList list_{};
};

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void GOMP_target_ext(int device, void (*body)(void*), std::size_t count, void** addresses,
                                 std::size_t* sizes, unsigned short* kinds, unsigned flags, void** depend,
                                 void** arguments) {
  check(device);
  const Kinds of{sizes, kinds};
  const TargetRegion region{body, addresses, count, next_firstprivate, &of, thread_limit_of(arguments)};
  const Depend after(depend);
  ompt::from_program(WEFT_CALLER, [&] {
    if ((flags & flag_nowait) != 0)
      create_target_task(region, after.list());
    else
      run_target(region, after.list());
  });
}

WEFT_EXPORT void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*, unsigned short*) { check(device); }

WEFT_EXPORT void GOMP_target_end_data() {}

WEFT_EXPORT void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*, unsigned short*, unsigned flags,
                                        void** depend) {
  check(device);
  ompt::from_program(WEFT_CALLER, [&] { move_data(Depend(depend).list(), (flags & flag_nowait) != 0); });
}

WEFT_EXPORT void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*, unsigned short*,
                                             unsigned flags, void** depend) {
  check(device);
  ompt::from_program(WEFT_CALLER, [&] { move_data(Depend(depend).list(), (flags & flag_nowait) != 0); });
}

// As compilers before GCC 6 emitted them.

WEFT_EXPORT void GOMP_target(int device, void (*body)(void*), const void*, std::size_t count, void** addresses,
                             std::size_t*, unsigned char*) {
  check(device);
  const Kinds none{nullptr, nullptr};
  run_target({body, addresses, count, next_firstprivate, &none}, nullptr);
}

WEFT_EXPORT void GOMP_target_data(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
  check(device);
}

WEFT_EXPORT void GOMP_target_update(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
  check(device);
}

// Programs built with code for accelerators hand it over when they are loaded, and take it back at the
// end. There is no accelerator here.

WEFT_EXPORT void GOMP_offload_register(const void*, int, const void*) {}
WEFT_EXPORT void GOMP_offload_unregister(const void*, int, const void*) {}
WEFT_EXPORT void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
WEFT_EXPORT void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
