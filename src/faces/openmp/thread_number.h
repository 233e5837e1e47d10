// A number for each thread of OpenMP, as LLVM's ABI hands it around. It belongs to the thread's identity: a member
// has the same one for all of its life, and no two that live at a time have the same.
#pragma once

namespace weft::openmp {

/// Counted from 0 in the order in which threads ask.
int thread_number();

/// How many have asked.
int thread_numbers_given();

}  // namespace weft::openmp
