// LLVM's and Intel's entry points for the atomic construct, for every type and operation. clang uses those for a few
// types only, Intel's compilers use them all.
//
// Names: __kmpc_atomic_TYPE_OPERATION[_cpt][_rev], where _cpt captures a value (the new one if the flag is set, else
// the old one), and _rev exchanges the operands: x = value - x.
#include <type_traits>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/atomic_lock.h"
#include "faces/openmp/ompt/mutexes.h"

namespace weft::openmp {
namespace {

// Passed and returned as C does it.
__extension__ typedef __complex__ float Complex4;
__extension__ typedef __complex__ double Complex8;
__extension__ typedef __complex__ long double Complex10;

template <class T>
struct Values {
  T before, after;
};

/// x = change(x), in one step.
template <class T, class Change>
Values<T> update(T* x, Change change) {
  Values<T> values;
  if constexpr (sizeof(T) <= sizeof(std::int64_t)) {
    __atomic_load(x, &values.before, __ATOMIC_RELAXED);
    do {
      values.after = change(values.before);
    } while (!__atomic_compare_exchange(x, &values.before, &values.after, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  } else {
    atomic_lock.lock();
    values.before = *x;
    values.after = *x = change(values.before);
    atomic_lock.unlock();
  }
  return values;
}

template <class T>
T read(T* x) {
  return update(x, [](T value) { return value; }).before;
}

template <class T>
T captured(const Values<T>& values, int flag) {
  return flag != 0 ? values.after : values.before;
}

/// An operation that the compiler has made a function of: apply(&result, &x, &value).
using Apply = void (*)(void* result, void* x, void* value);

template <class Word>
void update_by_function(void* x, void* value, Apply apply) {
  update(static_cast<Word*>(x), [&](Word before) {
    Word after;
    apply(&after, &before, value);
    return after;
  });
}

void update_under_lock(void* x, void* value, Apply apply) {
  atomic_lock.lock();
  apply(x, x, value);
  atomic_lock.unlock();
}

/// Returns what x held.
template <class T>
T compare_and_swap(T* x, T expected, T desired) {
  __atomic_compare_exchange_n(x, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

// Changes x, and tells both of its values. In the expression `a` is the variable's value (or, reversed, the given one),
// `b` the other.
#define WEFT_CHANGE(x, value, T, expression) \
  update(x, [value](T before) {              \
    const auto a = before;                   \
    const auto b = value;                    \
    return static_cast<T>(expression);       \
  })

#define WEFT_UPDATE(name, T, V, expression) \
  WEFT_EXPORT void __kmpc_atomic_##name(Ident*, int, T* x, V value) { WEFT_CHANGE(x, value, T, expression); }
#define WEFT_UPDATE_CPT(name, T, expression)                                 \
  WEFT_EXPORT T __kmpc_atomic_##name(Ident*, int, T* x, T value, int flag) { \
    return captured(WEFT_CHANGE(x, value, T, expression), flag);             \
  }
// This type alone is captured by reference.
#define WEFT_UPDATE_CPT_OUT(name, T, expression)                                        \
  WEFT_EXPORT void __kmpc_atomic_##name(Ident*, int, T* x, T value, T* out, int flag) { \
    *out = captured(WEFT_CHANGE(x, value, T, expression), flag);                        \
  }

#define WEFT_BOTH(type, operation, T, expression)   \
  WEFT_UPDATE(type##_##operation, T, T, expression) \
  WEFT_UPDATE_CPT(type##_##operation##_cpt, T, expression)
#define WEFT_BOTH_REVERSED(type, operation, T, expression) \
  WEFT_UPDATE(type##_##operation##_rev, T, T, expression)  \
  WEFT_UPDATE_CPT(type##_##operation##_cpt_rev, T, expression)

#define WEFT_READ_WRITE(type, T)                                                 \
  WEFT_EXPORT T __kmpc_atomic_##type##_rd(Ident*, int, T* x) { return read(x); } \
  WEFT_EXPORT void __kmpc_atomic_##type##_wr(Ident*, int, T* x, T value) {       \
    update(x, [value](T) { return value; });                                     \
  }
#define WEFT_SWAP(type, T)                                               \
  WEFT_EXPORT T __kmpc_atomic_##type##_swp(Ident*, int, T* x, T value) { \
    return update(x, [value](T) { return value; }).before;               \
  }

#define WEFT_INTEGER(type, T, U)                                        \
  WEFT_BOTH(type, add, T, a + b)                                        \
  WEFT_BOTH(type, sub, T, a - b)                                        \
  WEFT_BOTH(type, mul, T, a* b)                                         \
  WEFT_BOTH(type, div, T, a / b)                                        \
  WEFT_BOTH(type, andb, T, a& b)                                        \
  WEFT_BOTH(type, orb, T, a | b)                                        \
  WEFT_BOTH(type, xor, T, a ^ b)                                        \
  WEFT_BOTH(type, neqv, T, a ^ b)                                       \
  WEFT_BOTH(type, eqv, T, a ^ ~b)                                       \
  WEFT_BOTH(type, andl, T, a&& b)                                       \
  WEFT_BOTH(type, orl, T, a || b)                                       \
  WEFT_BOTH(type, shl, T, a << b)                                       \
  WEFT_BOTH(type, shr, T, a >> b)                                       \
  WEFT_BOTH(type, max, T, a < b ? b : a)                                \
  WEFT_BOTH(type, min, T, b < a ? b : a)                                \
  WEFT_BOTH_REVERSED(type, sub, T, b - a)                               \
  WEFT_BOTH_REVERSED(type, div, T, b / a)                               \
  WEFT_BOTH_REVERSED(type, shl, T, b << a)                              \
  WEFT_BOTH_REVERSED(type, shr, T, b >> a)                              \
  WEFT_UPDATE(type##_mul_float8, T, double, static_cast<double>(a) * b) \
  WEFT_UPDATE(type##_div_float8, T, double, static_cast<double>(a) / b) \
  WEFT_READ_WRITE(type, T)                                              \
  WEFT_SWAP(type, T)                                                    \
  WEFT_BOTH(type##u, div, U, a / b)                                     \
  WEFT_BOTH(type##u, shr, U, a >> b)                                    \
  WEFT_BOTH_REVERSED(type##u, div, U, b / a)                            \
  WEFT_BOTH_REVERSED(type##u, shr, U, b >> a)

#define WEFT_REAL(type, T)                \
  WEFT_BOTH(type, add, T, a + b)          \
  WEFT_BOTH(type, sub, T, a - b)          \
  WEFT_BOTH(type, mul, T, a* b)           \
  WEFT_BOTH(type, div, T, a / b)          \
  WEFT_BOTH(type, max, T, a < b ? b : a)  \
  WEFT_BOTH(type, min, T, b < a ? b : a)  \
  WEFT_BOTH_REVERSED(type, sub, T, b - a) \
  WEFT_BOTH_REVERSED(type, div, T, b / a) \
  WEFT_READ_WRITE(type, T)                \
  WEFT_SWAP(type, T)

#define WEFT_COMPLEX(type, T)             \
  WEFT_BOTH(type, add, T, a + b)          \
  WEFT_BOTH(type, sub, T, a - b)          \
  WEFT_BOTH(type, mul, T, a* b)           \
  WEFT_BOTH(type, div, T, a / b)          \
  WEFT_BOTH_REVERSED(type, sub, T, b - a) \
  WEFT_BOTH_REVERSED(type, div, T, b / a) \
  WEFT_READ_WRITE(type, T)                \
  WEFT_SWAP(type, T)

#define WEFT_WIDER(type, wider, T, V)          \
  WEFT_UPDATE(type##_add_##wider, T, V, a + b) \
  WEFT_UPDATE(type##_sub_##wider, T, V, a - b) \
  WEFT_UPDATE(type##_mul_##wider, T, V, a* b)  \
  WEFT_UPDATE(type##_div_##wider, T, V, a / b)

WEFT_INTEGER(fixed1, std::int8_t, std::uint8_t)
WEFT_INTEGER(fixed2, std::int16_t, std::uint16_t)
WEFT_INTEGER(fixed4, std::int32_t, std::uint32_t)
WEFT_INTEGER(fixed8, std::int64_t, std::uint64_t)
WEFT_REAL(float4, float)
WEFT_REAL(float8, double)
WEFT_REAL(float10, long double)
WEFT_WIDER(float4, float8, float, double)
WEFT_COMPLEX(cmplx8, Complex8)
WEFT_COMPLEX(cmplx10, Complex10)
WEFT_WIDER(cmplx4, cmplx8, Complex4, Complex8)

WEFT_UPDATE(cmplx4_add, Complex4, Complex4, a + b)
WEFT_UPDATE(cmplx4_sub, Complex4, Complex4, a - b)
WEFT_UPDATE(cmplx4_mul, Complex4, Complex4, a* b)
WEFT_UPDATE(cmplx4_div, Complex4, Complex4, a / b)
WEFT_UPDATE(cmplx4_sub_rev, Complex4, Complex4, b - a)
WEFT_UPDATE(cmplx4_div_rev, Complex4, Complex4, b / a)
WEFT_UPDATE_CPT_OUT(cmplx4_add_cpt, Complex4, a + b)
WEFT_UPDATE_CPT_OUT(cmplx4_sub_cpt, Complex4, a - b)
WEFT_UPDATE_CPT_OUT(cmplx4_mul_cpt, Complex4, a* b)
WEFT_UPDATE_CPT_OUT(cmplx4_div_cpt, Complex4, a / b)
WEFT_UPDATE_CPT_OUT(cmplx4_sub_cpt_rev, Complex4, b - a)
WEFT_UPDATE_CPT_OUT(cmplx4_div_cpt_rev, Complex4, b / a)
WEFT_READ_WRITE(cmplx4, Complex4)
WEFT_EXPORT void __kmpc_atomic_cmplx4_swp(Ident*, int, Complex4* x, Complex4 value, Complex4* out) {
  *out = update(x, [value](Complex4) { return value; }).before;
}

// Any type of that many bytes.
#define WEFT_BY_FUNCTION(size, Word)                                                      \
  WEFT_EXPORT void __kmpc_atomic_##size(Ident*, int, void* x, void* value, Apply apply) { \
    update_by_function<Word>(x, value, apply);                                            \
  }
WEFT_BY_FUNCTION(1, std::uint8_t)
WEFT_BY_FUNCTION(2, std::uint16_t)
WEFT_BY_FUNCTION(4, std::uint32_t)
WEFT_BY_FUNCTION(8, std::uint64_t)
#define WEFT_BY_FUNCTION_UNDER_LOCK(size)                                                 \
  WEFT_EXPORT void __kmpc_atomic_##size(Ident*, int, void* x, void* value, Apply apply) { \
    update_under_lock(x, value, apply);                                                   \
  }
WEFT_BY_FUNCTION_UNDER_LOCK(10)
WEFT_BY_FUNCTION_UNDER_LOCK(16)
WEFT_BY_FUNCTION_UNDER_LOCK(20)
WEFT_BY_FUNCTION_UNDER_LOCK(32)

WEFT_EXPORT void __kmpc_atomic_start() {
  if (ompt::watched) [[unlikely]]
    return ompt::acquire(WEFT_CALLER, ompt::MutexKind::atomic, &atomic_lock, 0, [] { atomic_lock.lock(); });
  atomic_lock.lock();
}
WEFT_EXPORT void __kmpc_atomic_end() {
  if (ompt::watched) [[unlikely]]
    return ompt::release(WEFT_CALLER, ompt::MutexKind::atomic, &atomic_lock, [] { atomic_lock.unlock(); });
  atomic_lock.unlock();
}

// atomic compare: bool_ says whether x was as expected, val_ what it held; _cpt captures: bool_ what x held if it was
// not as expected, val_ what it holds now.
#define WEFT_COMPARE(size, T)                                                                               \
  WEFT_EXPORT bool __kmpc_atomic_bool_##size##_cas(Ident*, int, T* x, T expected, T desired) {              \
    return compare_and_swap(x, expected, desired) == expected;                                              \
  }                                                                                                         \
  WEFT_EXPORT bool __kmpc_atomic_bool_##size##_cas_cpt(Ident*, int, T* x, T expected, T desired, T* held) { \
    const T before = compare_and_swap(x, expected, desired);                                                \
    if (before != expected) *held = before;                                                                 \
    return before == expected;                                                                              \
  }                                                                                                         \
  WEFT_EXPORT T __kmpc_atomic_val_##size##_cas(Ident*, int, T* x, T expected, T desired) {                  \
    return compare_and_swap(x, expected, desired);                                                          \
  }                                                                                                         \
  WEFT_EXPORT T __kmpc_atomic_val_##size##_cas_cpt(Ident*, int, T* x, T expected, T desired, T* holds) {    \
    const T before = compare_and_swap(x, expected, desired);                                                \
    *holds = before == expected ? desired : before;                                                         \
    return before;                                                                                          \
  }
WEFT_COMPARE(1, std::int8_t)
WEFT_COMPARE(2, std::int16_t)
WEFT_COMPARE(4, std::int32_t)
WEFT_COMPARE(8, std::int64_t)
