// Exceptions thrown and caught inside a member, a task, a loop iteration, a critical section; through deep stacks.
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

namespace {

struct Guard {
  int* count;
  explicit Guard(int* c) : count(c) { check_add(count, 1); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { check_add(count, -1); }
};

int live_guards;

[[noreturn]] void throw_from_depth(int depth, int value) {
  Guard guard(&live_guards);
  std::string text = "value " + std::to_string(value);
  if (depth == 0) throw std::runtime_error(text);
  throw_from_depth(depth - 1, value);
}

bool caught(int depth, int value) {
  try {
    throw_from_depth(depth, value);
  } catch (const std::runtime_error& error) {
    return error.what() == "value " + std::to_string(value);
  }
}

void in_members() {
  int good = 0;
#pragma omp parallel
  for (int i = 0; i < 10; ++i) check_add(&good, caught(i, omp_get_thread_num()));
  CHECK_EQ(good, 10 * omp_get_max_threads());
}

// The exception in flight belongs to the member, over a barrier inside the handler.
void over_suspension() {
  int good = 0;
#pragma omp parallel num_threads(6)
  for (int round = 0; round < 10; ++round) {
    const int me = omp_get_thread_num() * 100 + round;
    try {
      throw me;
    } catch (int value) {
#pragma omp barrier
      try {
        throw;
      } catch (int again) {
#pragma omp barrier
        check_add(&good, value == me && again == me);
      }
    }
    CHECK_EQ(std::uncaught_exceptions(), 0);
  }
  CHECK_EQ(good, 60);
}

void in_tasks() {
  int good = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task shared(good)
    {
      try {
#pragma omp task shared(good)
        check_add(&good, caught(3, i));
        throw_from_depth(5, i);
      } catch (const std::exception& error) {
#pragma omp taskwait
        check_add(&good, error.what() == "value " + std::to_string(i));
      }
    }
  }
  CHECK_EQ(good, 200);
}

void in_worksharing() {
  int good = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 50; ++i) check_add(&good, caught(2, i));
#pragma omp sections
    {
      check_add(&good, caught(1, 1));
#pragma omp section
      check_add(&good, caught(1, 2));
    }
#pragma omp single
    check_add(&good, caught(1, 3));
#pragma omp critical(weft_exceptions)
    {
      if (!caught(1, 4)) check_add(&good, -1);
    }
  }
  CHECK_EQ(good, 53);
}

void in_nested_regions() {
  int good = 0;
#pragma omp parallel num_threads(3)
  try {
#pragma omp parallel num_threads(4)
    check_add(&good, caught(4, omp_get_thread_num()));
    throw std::string("outer");
  } catch (const std::string& text) {
    check_add(&good, text == "outer" ? 100 : 0);
  }
  CHECK_GE(good, 303);
}

// A member that throws and catches while it holds objects with destructors and containers.
void destructors() {
  int good = 0;
#pragma omp parallel num_threads(8)
  {
    std::vector<std::string> names;
    try {
      for (int i = 0;; ++i) names.push_back(std::to_string(i)), (void)names.at(i < 20 ? 0 : 1000);
    } catch (const std::out_of_range&) {
      check_add(&good, names.size() == 21);
    }
  }
  CHECK_EQ(good, 8);
}

void body() {
  in_members();
  if (!check_sanitized()) over_suspension();
  if (!check_sanitized()) in_tasks();
  in_worksharing();
  in_nested_regions();
  destructors();
  if (check_where == CHECK_SERIAL) CHECK_EQ(check_load(&live_guards), 0);
}

}  // namespace

CHECK_MAIN(body)
