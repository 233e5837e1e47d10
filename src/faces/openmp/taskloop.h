// How a taskloop (OpenMP 5.2, 12.6) deals its iterations to tasks, and how many tasks become few.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faces/openmp/task.h"

namespace weft::openmp {

/// `tasks` of them, with `each` iterations, the first `longer` with one more; the last one may have fewer.
struct Deal {
  std::uint64_t tasks;
  std::uint64_t each;
  std::uint64_t longer;

  /// The first iteration of a task.
  std::uint64_t first_of(std::uint64_t task) const { return task * each + (task < longer ? task : longer); }
};

/// Of a loop with iterations. `number` is that of grainsize or else num_tasks; 0: neither was given. grainsize asks for
/// at least that many iterations a task and fewer than twice as many (strict: exactly as many, but for the last task);
/// num_tasks for that many tasks.
Deal deal(std::uint64_t trips, std::uint64_t number, bool is_grainsize, bool strict, std::uint64_t team_size);

/// The loop, for tasks that are made later.
struct TaskLoop {
  Deal dealt;
  std::uint64_t trips, begin, step;
  /// Writes into the data of a task that it works on the iterations [first, last).
  void (*set_bounds)(const TaskLoop& loop, void* data, std::uint64_t first, std::uint64_t last);
  std::size_t lower_at = 0, upper_at = 0;  // in the data, where set_bounds() needs to know

  std::uint64_t end_of(std::uint64_t task) const {
    const std::uint64_t first = dealt.first_of(task), wanted = dealt.each + (task < dealt.longer ? 1 : 0);
    return trips - first < wanted ? trips : first + wanted;
  }
};

/// The tasks of a taskloop as ranges (taskloop.cpp); `chunk` is what each of them is created with, its data the pattern
/// of theirs. False: it cannot be done for these, and nothing has happened.
bool create_in_ranges(Member& member, const TaskLoop& loop, const TaskRequest& chunk);

}  // namespace weft::openmp
