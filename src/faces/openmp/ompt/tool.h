// The tool of the process, if there is one (OpenMP 5.1, section 4.2): how it is found, started and ended.
#pragma once

namespace weft::openmp::ompt {

/// When the library is loaded: says (`watched`) whether there may be a tool, and runs nothing of it.
void look_for_tool();

/// The first thread has come to the runtime. Starts the tool, or finds that there is none.
void start_tool_once();

/// The tool has been started and not ended. omp_control_tool() asks.
bool tool_is_active();

/// The process ends, or the tool wants to: its threads end, and it is told.
void finish_tool();

}  // namespace weft::openmp::ompt
