// How a taskloop (OpenMP 5.2, 12.6) deals its iterations to tasks.
#pragma once

#include <cstdint>

namespace weft::openmp {

/// `tasks` of them, with `each` iterations, the first `longer` with one more; the last one may have fewer.
struct Deal {
  std::uint64_t tasks;
  std::uint64_t each;
  std::uint64_t longer;
};

/// Of a loop with iterations. `number` is that of grainsize or else num_tasks; 0: neither was given. grainsize asks for
/// at least that many iterations a task and fewer than twice as many (strict: exactly as many, but for the last task);
/// num_tasks for that many tasks.
Deal deal(std::uint64_t trips, std::uint64_t number, bool is_grainsize, bool strict, std::uint64_t team_size);

}  // namespace weft::openmp
