// What is done when the library is loaded.
#pragma once

namespace weft::openmp {

/// Reads the environment and configures the core, unless that has been done: for a thread that comes here before the
/// library's constructors have run.
void load_once();

}  // namespace weft::openmp
