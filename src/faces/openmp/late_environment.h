// Settings that the program makes in its own environment before it uses OpenMP: a Python script, say, that sets
// OMP_NUM_THREADS and then imports what is to heed it. Under `weft run` the library has been loaded by then; the stock
// runtimes would be only afterwards.
#pragma once

namespace weft::openmp {

/// Remembers what the environment says now, when the library is loaded.
void note_environment();

/// Takes what it says otherwise now, as kmp_set_defaults() would: when the runtime starts. Those of weft's own stay as
/// they were.
void take_changes_of_environment();

}  // namespace weft::openmp
