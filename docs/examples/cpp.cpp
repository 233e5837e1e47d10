#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <weft/weft.hpp>

static long fib(long n) {
  if (n < 2) return n;
  auto left = weft::spawn({.technique = WEFT_C_ROC_E}, [n] { return fib(n - 1); });
  const long right = fib(n - 2);
  return left.join() + right; /* what the unit has returned */
}

int main() {
  const weft::Runtime runtime;
  std::cout << "fib(16) = " << fib(16) << '\n';

  weft::Mutex mutex;
  long sum = 0;
  auto units = weft::spawn_many(100, [&](std::size_t index) {
    const std::lock_guard guard(mutex);
    sum += static_cast<long>(index);
  });
  units.join();
  std::cout << "0 + 1 + ... + 99 = " << sum << '\n';

  weft::Eventual<std::string> answer;
  auto asking = weft::spawn([&] {
    if (answer.get().empty()) throw std::runtime_error("no answer");
  });
  answer.set("");
  try {
    asking.join(); /* or what it has thrown */
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << '\n';
  }
}
