// weft.hpp in a file without exceptions and without RTTI: the same classes, and errors that end the process with a
// line.
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__cpp_exceptions) || defined(__GXX_RTTI)
#error "this file is about doing without"
#endif

namespace {

std::atomic<int> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

/// Whether `body` ends the process, and what it says before.
template <class Body>
bool ends_with(const char* wanted, Body body) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[256];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, buffer + got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && said.find(wanted) != std::string::npos;
}

class InOrder : public weft::CustomScheduler {
 public:
  explicit InOrder(weft_pool* pool) : CustomScheduler(true, {pool}) {}

 private:
  void run() noexcept override {
    while (!stops())
      if (weft_unit* unit = pop(0); unit != nullptr) weft_unit_run(unit);
  }
};

}  // namespace

int main() {
  const weft::Runtime runtime;
  long sum = 0;
  weft::Mutex mutex;
  weft::Latch latch(10);
  auto units = weft::spawn_many(10, [&](std::size_t index) {
    const std::lock_guard guard(mutex);
    sum += static_cast<long>(index);
    latch.count_down();
  });
  latch.wait();
  units.join();
  expect(sum == 45, "many add up");

  expect(weft::spawn([text = std::string("abc")] { return text + "d"; }).join() == "abcd", "a result");
  weft::Eventual<std::unique_ptr<int>> eventual;
  auto setter = weft::spawn([&eventual] { eventual.set(new int(4)); });
  expect(*eventual.get() == 4, "an eventual");
  setter.join();
  weft::UnitLocal<int> local;
  weft::spawn([&local] { *local = 1; }).join();
  expect(*local == 0, "a unit-local value");
  {
    const weft::Pool pool(WEFT_FIFO);
    const InOrder scheduler(pool.handle());
    weft::spawn_detached({.pool = pool.handle()}, [&sum] { ++sum; });
    weft::Worker(scheduler).join();
    expect(sum == 46, "a scheduler");
  }
  const int before = allocations;
  for (int i = 0; i < 10; ++i) weft::spawn([&sum] { ++sum; }).join();
  expect(sum == 56 && allocations == before, "a small callable costs no allocation");
  expect(weft::spawn([&sum] { return sum; }).join() == 56 && allocations > before, "a result does");
  expect(ends_with("weft: WEFT_ERR_OWNER: ", [&] { mutex.unlock(); }), "an error ends the process");
  expect(ends_with("weft: WEFT_ERR_STATE: ", [] { weft::Unit<>().join(); }), "no unit to join");
  return failures == 0 ? 0 : 1;
}
