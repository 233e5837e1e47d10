// Threadprivate variables of compilers that do not make thread-local ones of them (OpenMP 5.2, 5.2): the variable
// itself belongs to the initial thread, and every other thread gets a copy when it first asks for one.
#pragma once

#include <cstddef>

namespace weft::openmp {

/// How copies come and go; `elements` is 0 for a variable that is not an array of objects.
struct ThreadprivateClass {
  void* construct = nullptr;  // void*(void* copy), for arrays (void* copy, size_t elements)
  void* copy = nullptr;       // void*(void* copy, void* original), for arrays with the elements behind
  void* destroy = nullptr;    // void(void* copy), for arrays (void* copy, size_t elements)
  std::size_t elements = 0;
};

/// Before the first use of the variable.
void register_threadprivate(void* variable, const ThreadprivateClass& how);

/// The calling thread's copy of the variable at that address.
void* threadprivate_copy(void* variable, std::size_t size);

/// The calling thread is the initial one.
void note_initial_thread();

/// In a forked child.
void reset_threadprivate();

}  // namespace weft::openmp
