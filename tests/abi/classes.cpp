// Objects in clauses: constructors and destructors of private copies, task firstprivate copy constructors, reductions
// over classes, iterators and range-for loops, lambdas, references, this.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check.h"

namespace {

int constructed, copied, destroyed;

struct Counted {
  int value = -1;
  Counted* self;
  Counted() : self(this) { check_add(&constructed, 1); }
  Counted(const Counted& other) : value(other.value), self(this) {
    CHECK(other.self == &other);
    check_add(&copied, 1);
  }
  Counted& operator=(const Counted& other) {
    CHECK(other.self == &other && self == this);
    value = other.value;
    return *this;
  }
  ~Counted() {
    CHECK(self == this);
    check_add(&destroyed, 1);
  }
};

int alive() { return check_load(&constructed) + check_load(&copied) - check_load(&destroyed); }

void private_objects() {
  Counted first, scratch, last;
  first.value = 5;
#pragma omp parallel num_threads(4) private(scratch) firstprivate(first)
  {
    CHECK(scratch.self == &scratch && first.self == &first);
    CHECK_EQ(scratch.value, -1);
    CHECK_EQ(first.value, 5);
    first.value = omp_get_thread_num();
  }
  CHECK_EQ(first.value, 5);
#pragma omp parallel for lastprivate(last) schedule(dynamic, 3)
  for (int i = 0; i < 40; ++i) last.value = i;
  CHECK_EQ(last.value, 39);
#pragma omp parallel num_threads(4)
  {
    Counted given;
#pragma omp single copyprivate(given)
    given.value = 12;
    CHECK_EQ(given.value, 12);
  }
}

void task_copies() {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 50; ++i) {
      Counted object;
      object.value = i;
      std::string name = "a string that is longer than the small buffer " + std::to_string(i);
#pragma omp task firstprivate(object, name) shared(sum)
      {
        CHECK(object.self == &object);
        CHECK(name == "a string that is longer than the small buffer " + std::to_string(object.value));
        check_add(&sum, object.value);
      }
    }
#pragma omp taskwait
    Counted seven;
    seven.value = 7;
#pragma omp task if (0) firstprivate(seven) shared(sum)
    check_add(&sum, seven.value);
#pragma omp taskloop firstprivate(seven) shared(sum) num_tasks(6)
    for (int i = 0; i < 60; ++i) check_add(&sum, seven.value);
  }
  CHECK_EQ(sum, 1225 + 7 + 420);
}

struct Bag {
  std::map<int, int> counts;
  void add(int key) { counts[key]++; }
  void merge(const Bag& other) {
    for (const auto& [key, count] : other.counts) counts[key] += count;
  }
};

#pragma omp declare reduction(merge:Bag : omp_out.merge(omp_in))
#pragma omp declare reduction(join : std::vector <int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))

void reductions() {
  Bag bag;
  std::vector<int> values;
#pragma omp parallel for reduction(merge : bag) reduction(join : values) schedule(dynamic, 2)
  for (int i = 0; i < 200; ++i) {
    bag.add(i % 7);
    values.push_back(i);
  }
  CHECK_EQ(bag.counts.size(), 7);
  for (int key = 0; key < 7; ++key) CHECK_EQ(bag.counts[key], 200 / 7 + (key < 200 % 7));
  std::sort(values.begin(), values.end());
  CHECK_EQ(values.size(), 200);
  for (int i = 0; i < 200; ++i) CHECK_EQ(values[i], i);
}

void iterators() {
  std::vector<int> values(150, 1);
#pragma omp parallel for schedule(dynamic, 4)
  for (auto it = values.begin(); it < values.end(); ++it) *it += 1;
#pragma omp parallel for schedule(static)
  for (auto it = values.rbegin(); it != values.rend(); it += 1) *it += 1;
#pragma omp parallel for schedule(guided)
  for (int& value : values) value += 1;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
  for (auto it = values.begin(); it < values.end(); ++it) *it += 1;
  CHECK(std::all_of(values.begin(), values.end(), [](int value) { return value == 5; }));
}

class Widget {
  int member_ = 3;
  std::vector<int> sizes_;

 public:
  void run() {
    int sum = 0;
#pragma omp parallel reduction(+ : sum) num_threads(5)
    {
      sum += member_;
#pragma omp critical(weft_classes)
      sizes_.push_back(omp_get_thread_num());
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < 10; ++i) {
#pragma omp task
        {
#pragma omp atomic
          member_ += 1;
        }
      }
    }
    CHECK_EQ(sum, 15);
    CHECK_EQ(member_, 13);
    CHECK_EQ(sizes_.size(), 5);
  }
};

void lambdas_and_references() {
  int sum = 0;
  int& reference = sum;
  const auto add = [&](int n) {
#pragma omp parallel for reduction(+ : reference)
    for (int i = 0; i < n; ++i) reference += 1;
  };
  add(30);
  add(12);
  CHECK_EQ(sum, 42);
  std::vector<int> squares(20);
#pragma omp parallel
#pragma omp single
  std::for_each(squares.begin(), squares.end(), [n = 0](int& square) mutable {
    const int mine = n++;
    int* const target = &square;
#pragma omp task
    *target = mine * mine;
  });
  for (int i = 0; i < 20; ++i) CHECK_EQ(squares[i], i * i);
}

// A local static is constructed once, whichever member comes first.
int static_constructions;
struct Once {
  Once() {
    check_work(20000);
    check_add(&static_constructions, 1);
  }
};

void local_static() {
#pragma omp parallel
  {
    static Once once;
    (void)once;
    CHECK_EQ(check_load(&static_constructions), 1);
  }
}

void body() {
  private_objects();
  task_copies();
  reductions();
  iterators();
  Widget().run();
  lambdas_and_references();
  local_static();
  if (check_where == CHECK_SERIAL) CHECK_EQ(alive(), 0);
}

}  // namespace

int main() {
  const int status = check_run(body);
  CHECK_EQ(alive(), 0);
  return status | check_finish();
}
