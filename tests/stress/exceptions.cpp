// C++ exceptions inside members and tasks: what one member throws and has caught is its own, also while it is
// suspended in the middle of it.
#include "check.h"

#include <execinfo.h>
#include <omp.h>
#include <pthread.h>
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Numbered {
  int number;
};

__attribute__((noinline)) void throw_below(int depth, int number) {
  const std::string keeps_a_destructor(static_cast<size_t>(depth) + 30, 'x');
  if (depth == 0) {
    throw Numbered{number};
  }
  throw_below(depth - 1, number);
}

void thrown_and_caught_in_members() {
  for (int i = 0; i < repeats(20); i++) {
    std::atomic<int> caught{0};
#pragma omp parallel num_threads(16)
    {
      const int mine = omp_get_thread_num();
      for (int round = 0; round < 3; round++) {
        try {
          throw_below(10, mine * 10 + round);
        } catch (const Numbered& thrown) {
          CHECK_EQUAL(thrown.number, mine * 10 + round, "number in the exception of a member");
          caught++;
        }
#pragma omp barrier
      }
    }
    CHECK_EQUAL(caught.load(), 48, "exceptions caught in members");
  }
}

void thrown_and_caught_in_tasks() {
  for (int i = 0; i < repeats(5); i++) {
    std::atomic<int> caught{0};
#pragma omp parallel num_threads(8)
#pragma omp single
    for (int task = 0; task < 500; task++) {
#pragma omp task firstprivate(task) shared(caught)
      {
        try {
          throw_below(task % 7, task);
        } catch (const Numbered& thrown) {
          CHECK_EQUAL(thrown.number, task, "number in the exception of a task");
#pragma omp taskyield
          caught++;
        }
      }
    }
    CHECK_EQUAL(caught.load(), 500, "exceptions caught in tasks");
  }
}

// In the handler, with the exception alive, the member waits for the others; then it throws it again.
void rethrown_after_a_barrier() {
  for (int i = 0; i < repeats(20); i++) {
#pragma omp parallel num_threads(16)
    {
      const int mine = omp_get_thread_num();
      try {
        try {
          throw_below(5, mine);
        } catch (const Numbered& thrown) {
#pragma omp barrier
          CHECK_EQUAL(thrown.number, mine, "exception held over a barrier");
          try {
            throw std::runtime_error(std::to_string(mine));
          } catch (const std::runtime_error& second) {
#pragma omp barrier
            CHECK_EQUAL(std::stoi(second.what()), mine, "second exception held over a barrier");
          }
#pragma omp barrier
          throw;
        }
      } catch (const Numbered& thrown) {
        CHECK_EQUAL(thrown.number, mine, "exception thrown again after a barrier");
      }
      CHECK(!std::current_exception(), "an exception is current after its handler");
    }
  }
}

struct WaitsWhileUnwinding {
  int expected;
  explicit WaitsWhileUnwinding(int count) : expected(count) {}
  ~WaitsWhileUnwinding() {
    CHECK_EQUAL(std::uncaught_exceptions(), expected, "uncaught_exceptions before a barrier");
#pragma omp barrier
    CHECK_EQUAL(std::uncaught_exceptions(), expected, "uncaught_exceptions after a barrier");
  }
};

void uncaught_exceptions_across_barriers() {
  for (int i = 0; i < repeats(20); i++) {
#pragma omp parallel num_threads(16)
    {
      const bool throws = omp_get_thread_num() % 3 == 0;
      CHECK_EQUAL(std::uncaught_exceptions(), 0, "uncaught_exceptions of a member that starts");
      try {
        const WaitsWhileUnwinding waits(throws ? 1 : 0);
        if (throws) {
          throw_below(3, 1);
        }
      } catch (const Numbered&) {
        CHECK_EQUAL(std::uncaught_exceptions(), 0, "uncaught_exceptions in a handler");
      }
    }
  }
}

void thrown_through_nested_regions() {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(5); i++) {
    std::atomic<int> caught{0};
#pragma omp parallel num_threads(8)
    {
      const int outer = omp_get_thread_num();
      std::exception_ptr from_inner[4];
#pragma omp parallel num_threads(4)
      {
        const int inner = omp_get_thread_num();
        try {
#pragma omp barrier
          throw_below(4, outer * 100 + inner);
        } catch (...) {
          from_inner[inner] = std::current_exception();
        }
      }
      for (int inner = 0; inner < 4; inner++) {
        try {
          std::rethrow_exception(from_inner[inner]);
        } catch (const Numbered& thrown) {
          CHECK_EQUAL(thrown.number, outer * 100 + inner, "exception of an inner member");
          caught++;
        }
      }
    }
    CHECK_EQUAL(caught.load(), 32, "exceptions of inner members");
  }
}

// A region, and its members' exceptions, inside a handler.
void regions_inside_handlers() {
  for (int i = 0; i < repeats(10); i++) {
    try {
      throw_below(3, 77);
    } catch (const Numbered& thrown) {
      thrown_through_nested_regions();
#pragma omp parallel num_threads(8)
      {
#pragma omp master
        CHECK(std::current_exception() != nullptr, "the master lost the exception it handles");
#pragma omp barrier
#pragma omp master
        CHECK(std::current_exception() != nullptr, "the master lost the exception it handles at a barrier");
      }
      CHECK_EQUAL(thrown.number, 77, "exception that is handled around regions");
    }
  }
}

void exception_pointer_to_master() {
  for (int i = 0; i < repeats(20); i++) {
    std::exception_ptr first;
#pragma omp parallel num_threads(16)
    {
      try {
        if (omp_get_thread_num() == 11) {
          throw std::out_of_range("from member 11");
        }
      } catch (...) {
#pragma omp critical
        first = std::current_exception();
      }
    }
    try {
      CHECK(first != nullptr, "no exception came to the master");
      std::rethrow_exception(first);
    } catch (const std::out_of_range& thrown) {
      CHECK(std::string(thrown.what()) == "from member 11", "the master caught '%s'", thrown.what());
    }
  }
}

void* throw_in_root(void*) {
  for (int i = 0; i < repeats(10); i++) {
    thrown_through_nested_regions();
    try {
      throw_below(5, i);
    } catch (const Numbered& thrown) {
      CHECK_EQUAL(thrown.number, i, "exception of a root");
    }
  }
  return nullptr;
}

void thrown_in_many_roots() {
  pthread_t threads[8];
  for (auto& thread : threads) {
    CHECK(pthread_create(&thread, nullptr, throw_in_root, nullptr) == 0, "pthread_create failed");
  }
  for (auto& thread : threads) {
    pthread_join(thread, nullptr);
  }
}

void throw_out_of_member() {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 5) {
      throw_below(2, 5);
    }
  }
}

void leaving_a_member_terminates() {
  const Run run = run_again("throw_out_of_member", RunOptions{{}, 10, nullptr, nullptr});
  expect_signal(run.status, SIGABRT, "an exception that leaves a member");
  CHECK(strstr(run.errors, "terminate called"), "terminate said: %s", run.errors);
}

// The stack of a member ends: an unwinder that walks to the end finds it.
void unwinding_ends() {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(16)
    {
      void* frames[300];
      int count = backtrace(frames, 300);
      CHECK(count > 0 && count < 100, "the stack of a member has %d frames", count);
#pragma omp barrier
      count = backtrace(frames, 300);
      CHECK(count > 0 && count < 100, "the stack of a member has %d frames after a barrier", count);
#pragma omp task
      {
        void* inner[300];
        const int depth = backtrace(inner, 300);
        CHECK(depth > 0 && depth < 200, "the stack of a task has %d frames", depth);
      }
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const Case cases[] = {
      {"thrown_and_caught_in_members", thrown_and_caught_in_members, 0},
      {"thrown_and_caught_in_tasks", thrown_and_caught_in_tasks, 0},
      {"rethrown_after_a_barrier", rethrown_after_a_barrier, 0},
      {"uncaught_exceptions_across_barriers", uncaught_exceptions_across_barriers, 0},
      {"thrown_through_nested_regions", thrown_through_nested_regions, 0},
      {"regions_inside_handlers", regions_inside_handlers, 0},
      {"exception_pointer_to_master", exception_pointer_to_master, 0},
      {"thrown_in_many_roots", thrown_in_many_roots, 0},
      {"leaving_a_member_terminates", leaving_a_member_terminates, 0},
      {"unwinding_ends", unwinding_ends, 0},
      {"throw_out_of_member", throw_out_of_member, 1},
      {nullptr, nullptr, 0},
  };
  return run_cases(count, arguments, cases);
}
