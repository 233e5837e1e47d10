// threadprivate objects of class type: constructed for each thread on first use, copyin assigns, values persist.
// thread_local ones beside them.
#include <map>
#include <string>

#include "check.h"

namespace {

int constructed;

struct Counter {
  int value;
  std::string name;
  Counter() : value(40), name("a name that does not fit into the small buffer") { check_add(&constructed, 1); }
  explicit Counter(int start) : value(start), name("started") { check_add(&constructed, 1); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = default;
};

extern Counter plain, with_argument;  // gcc wants the directive before the definition of what has a constructor
#pragma omp threadprivate(plain, with_argument)
Counter plain;
Counter with_argument(7);

class Holder {
 public:
  static int tally;
#pragma omp threadprivate(tally)
};
int Holder::tally = 11;

thread_local std::map<int, std::string> notes;

void constructed_for_each_thread() {
#pragma omp parallel num_threads(6)
  {
    CHECK_EQ(plain.value, 40);
    CHECK(plain.name == "a name that does not fit into the small buffer");
    CHECK_EQ(with_argument.value, 7);
    CHECK_EQ(Holder::tally, 11);
    plain.value = omp_get_thread_num();
    plain.name = "member " + std::to_string(omp_get_thread_num());
    Holder::tally = -omp_get_thread_num();
    notes[1] = plain.name;
  }
  CHECK_EQ(check_load(&constructed), 12);
}

void persist() {
  for (int round = 0; round < 10; ++round) {
#pragma omp parallel num_threads(6)
    {
      CHECK_EQ(plain.value, omp_get_thread_num() + round);
      CHECK(plain.name == "member " + std::to_string(omp_get_thread_num()));
      CHECK_EQ(Holder::tally, -omp_get_thread_num());
      CHECK(notes[1] == plain.name);
#pragma omp barrier
      plain.value++;
      CHECK(plain.name == "member " + std::to_string(omp_get_thread_num()));
    }
  }
  CHECK_EQ(check_load(&constructed), 12);
}

void copyin() {
  plain.value = 99;
  plain.name = "copied to everybody, and long enough to be allocated";
#pragma omp parallel num_threads(6) copyin(plain)
  {
    CHECK_EQ(plain.value, 99);
    CHECK(plain.name == "copied to everybody, and long enough to be allocated");
#pragma omp barrier
    plain.name += std::to_string(omp_get_thread_num());
  }
  CHECK(plain.name == "copied to everybody, and long enough to be allocated0");
}

void local_threadprivate() {
#pragma omp parallel num_threads(4)
  for (int i = 1; i <= 5; ++i) {
    static int calls = 0;
#pragma omp threadprivate(calls)
    ++calls;
    CHECK_EQ(calls, i);
#pragma omp barrier
  }
}

void body() {
  constructed_for_each_thread();
  persist();
  copyin();
  local_threadprivate();
}

}  // namespace

CHECK_MAIN_FLAT(body)
