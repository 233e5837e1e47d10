// kmp_set_defaults() and the routines of LLVM's and Intel's runtime that set one thing: what the environment could have
// said, said by the program.
#pragma once

#include <cstddef>

namespace weft::openmp {

/// `NAME=VALUE|NAME=VALUE`: each as set_later() (settings.h) or set_kmp_variable_later() takes it; one line names those
/// that are not used.
void set_defaults(const char* text, std::size_t length);

/// In a forked child.
void reset_defaults();

/// One `NAME=VALUE` of the environment, when the runtime starts; names that weft does not know are passed over.
void set_before_start(const char* entry);

/// The size of every stack is settled with the first region.
void set_stack_size(std::size_t bytes);
std::size_t get_stack_size();

/// How long an idle worker looks for work before it sleeps, in milliseconds.
void set_block_time(int milliseconds);
int get_block_time();

}  // namespace weft::openmp
