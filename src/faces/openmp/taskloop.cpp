#include "faces/openmp/taskloop.h"

namespace weft::openmp {

Deal deal(std::uint64_t trips, std::uint64_t number, bool is_grainsize, bool strict, std::uint64_t team_size) {
  if (is_grainsize && number != 0) {
    if (strict) return {(trips - 1) / number + 1, number, 0};
    const std::uint64_t tasks = trips / number;
    if (tasks <= 1) return {1, trips, 0};
    return {tasks, trips / tasks, trips % tasks};
  }
  std::uint64_t tasks = number != 0 ? number : team_size;
  if (tasks > trips) tasks = trips;
  if (strict) {
    const std::uint64_t each = (trips - 1) / tasks + 1;
    return {(trips - 1) / each + 1, each, 0};
  }
  return {tasks, trips / tasks, trips % tasks};
}

}  // namespace weft::openmp
