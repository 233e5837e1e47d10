// The same closure in units and in threads of the program.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "support.h"

namespace weft::test {

inline void in_both(unsigned units, unsigned roots, const std::function<void(unsigned)>& body) {
  Jobs jobs;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < roots; ++number) threads.emplace_back([&body, number] { body(number); });
  for (unsigned number = 0; number < units; ++number) jobs.start([&body, number, roots] { body(roots + number); });
  jobs.join();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace weft::test
