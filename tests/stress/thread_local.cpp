// Thread-local storage of every kind belongs to the OpenMP thread, not to the kernel thread that happens to
// run it:
// __thread and threadprivate, C++ thread_local objects, errno, pthread keys, and what libc keeps per thread.
#include "check.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <omp.h>
#include <pthread.h>
#include <atomic>
#include <clocale>
#include <cstdint>
#include <string>
#include <vector>

namespace {

thread_local int plain;
thread_local char large[4096];
int private_to_thread;
#pragma omp threadprivate(private_to_thread)

// What members see right after the values are set, after each of some barriers, and after tasks.
void values_after_barriers(int members) {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(members)
    {
      const int mine = 1000 * i + omp_get_thread_num();
      plain = mine;
      private_to_thread = mine;
      memset(large, mine & 0xff, sizeof large);
      const int* const address = &plain;
      for (int round = 0; round < 4; round++) {
#pragma omp barrier
        CHECK_EQUAL(plain, mine, "__thread variable after a barrier");
        CHECK_EQUAL(private_to_thread, mine, "threadprivate variable after a barrier");
        CHECK(&plain == address, "address of a __thread variable changed at a barrier");
        CHECK(large[0] == static_cast<char>(mine) && large[4095] == static_cast<char>(mine),
              "__thread array after a barrier");
      }
#pragma omp single
      for (int task = 0; task < 50; task++) {
#pragma omp task
        sleep_seconds(0.00001);
      }
      CHECK_EQUAL(plain, mine, "__thread variable after tasks");
    }
  }
}

void values_with_16_members() { values_after_barriers(16); }

void values_with_64_members() { values_after_barriers(64); }

void values_in_nested_members() {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(3); i++) {
#pragma omp parallel num_threads(8)
    {
      const int outer = omp_get_thread_num();
      plain = 100000 + outer;
#pragma omp parallel num_threads(8)
      {
        const int mine = outer * 8 + omp_get_thread_num();
        plain = omp_get_thread_num() == 0 ? 100000 + outer : mine;
        private_to_thread = mine;
        for (int round = 0; round < 3; round++) {
#pragma omp barrier
          CHECK_EQUAL(private_to_thread, mine, "threadprivate variable of an inner member");
          CHECK_EQUAL(plain, omp_get_thread_num() == 0 ? 100000 + outer : mine, "__thread variable of an inner member");
        }
      }
      CHECK_EQUAL(plain, 100000 + outer, "__thread variable of an outer member after its inner region");
    }
  }
}

// OpenMP 5.0, 2.19.2: with the same number of threads and no nesting, the values persist from region to
// region.
void persistence_between_regions() {
  for (int members : {2, 7, 16, 64}) {
#pragma omp parallel num_threads(members)
    private_to_thread = 500 + omp_get_thread_num();
    for (int i = 0; i < repeats(20); i++) {
#pragma omp parallel num_threads(members)
      {
        CHECK_EQUAL(private_to_thread, 500 + omp_get_thread_num() + i, "threadprivate value of the last region");
        if (i % 2) {
#pragma omp barrier
        }
        private_to_thread++;
      }
    }
  }
}

void copyin_of_the_master() {
  for (int i = 0; i < repeats(10); i++) {
    private_to_thread = 9000 + i;
#pragma omp parallel num_threads(16) copyin(private_to_thread)
    {
      CHECK_EQUAL(private_to_thread, 9000 + i, "copyin");
      private_to_thread += omp_get_thread_num();
#pragma omp barrier
      CHECK_EQUAL(private_to_thread, 9000 + i + omp_get_thread_num(), "own value after copyin and a barrier");
    }
  }
}

void errno_of_members() {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(64)
    {
      const int mine = 1000 + omp_get_thread_num();
      int* const address = &errno;
      for (int round = 0; round < 4; round++) {
        errno = mine + round;
#pragma omp barrier
        CHECK_EQUAL(errno, mine + round, "errno after a barrier");
        CHECK(&errno == address, "address of errno changed at a barrier");
      }
#pragma omp barrier
      char byte;
      CHECK(read(-1, &byte, 1) == -1 && errno == EBADF, "errno of a failed call is %d", errno);
    }
  }
}

void pthread_keys() {
  pthread_key_t keys[40];  // beyond the first block of 32, which libc keeps in place
  for (auto& key : keys) {
    CHECK(pthread_key_create(&key, nullptr) == 0, "pthread_key_create failed");
  }
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(64)
    {
      const std::intptr_t mine = 7000 + omp_get_thread_num();
      const pthread_t self = pthread_self();
      for (const auto key : keys) {
        pthread_setspecific(key, reinterpret_cast<void*>(mine + static_cast<int>(key)));
      }
      for (int round = 0; round < 3; round++) {
#pragma omp barrier
        for (const auto key : keys) {
          CHECK_EQUAL(reinterpret_cast<std::intptr_t>(pthread_getspecific(key)), mine + static_cast<int>(key),
                      "pthread_getspecific after a barrier");
        }
        CHECK(pthread_equal(self, pthread_self()), "pthread_self of a member changed at a barrier");
      }
    }
  }
  for (const auto key : keys) {
    pthread_key_delete(key);
  }
}

// pthread_self() tells members apart that are alive at the same time.
void pthread_self_tells_members_apart() {
  pthread_t selves[64];
#pragma omp parallel num_threads(64)
  {
    selves[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
    for (int other = 0; other < 64; other++) {
      CHECK(other == omp_get_thread_num() || !pthread_equal(selves[other], pthread_self()),
            "members %d and %d have one pthread_self()", other, omp_get_thread_num());
    }
  }
}

// Nothing lies on it but what the caller has there: not far from its end, it may write a lot above the low end.
void check_stack_of_caller(const char* where) {
  pthread_attr_t attributes;
  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0, "pthread_getattr_np()");
  void* low = nullptr;
  size_t size = 0;
  size_t guard = 0;
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &low, &size), 0, "pthread_attr_getstack()");
  CHECK_EQUAL(pthread_attr_getguardsize(&attributes, &guard), 0, "pthread_attr_getguardsize()");
  CHECK_EQUAL(pthread_attr_destroy(&attributes), 0, "pthread_attr_destroy()");
  volatile char here = 0;
  const char* const begin = static_cast<char*>(low);
  const char* const end = begin + size;
  const char* const address = const_cast<const char*>(&here);
  CHECK(address >= begin && address < end, "%s: %p is not on the stack %p to %p", where, address, begin, end);
  CHECK(address - begin > 64 * 1024, "%s: only %td bytes are left of %zu", where, address - begin, size);
}

void stack_of_members() {
  omp_set_max_active_levels(2);
  for (int i = 0; i < repeats(5); i++) {
    check_stack_of_caller("before a region");
#pragma omp parallel num_threads(16)
    {
      check_stack_of_caller("a member");
#pragma omp barrier
      check_stack_of_caller("a member after a barrier");
#pragma omp task
      check_stack_of_caller("a task");
#pragma omp parallel num_threads(2)
      {
        check_stack_of_caller("a nested member");
#pragma omp barrier
        check_stack_of_caller("a nested member after a barrier");
      }
#pragma omp taskwait
      check_stack_of_caller("a member after a task");
    }
  }
}

double read_clock(clockid_t clock) {
  timespec time{};
  CHECK(clock_gettime(clock, &time) == 0, "clock_gettime: %s", strerror(errno));
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// What a member's clock says of 2 ms of CPU time of the kernel thread that runs it. Less than 0 where that has become
// another one meanwhile, as when the runtime finds the member to compute for long: the clock is the thread's.
double used_in_two_milliseconds() {
  const pid_t thread = thread_id();
  clockid_t clock = 0;
  CHECK_EQUAL(pthread_getcpuclockid(pthread_self(), &clock), 0, "pthread_getcpuclockid()");
  const double used_before = read_clock(clock);
  const double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
  while (read_clock(CLOCK_THREAD_CPUTIME_ID) - start < 0.002) {
    if (thread_id() != thread) return -1;
  }
  const double used = read_clock(clock) - used_before;
  return thread_id() == thread ? used : -1;
}

void cpu_time_of_members() {
#pragma omp parallel num_threads(8)
  {
#pragma omp barrier
    const double limit = seconds_now() + 60;
    double used = -1;
    while (used < 0 && seconds_now() < limit) used = used_in_two_milliseconds();
    CHECK(used >= 0.002, "%g s used in 2 ms of CPU time", used);
  }
}

void what_libc_keeps_per_thread() {
  for (int i = 0; i < repeats(5); i++) {
#pragma omp parallel num_threads(64)
    {
      const int mine = omp_get_thread_num();
      const std::string expected_error = "Unknown error " + std::to_string(5000 + mine);
      const char* const error = strerror(5000 + mine);
      in_addr address{};
      address.s_addr = htonl(0x0a000000U + static_cast<unsigned>(mine));
      const char* const dotted = inet_ntoa(address);
      const std::string expected_dotted = "10.0.0." + std::to_string(mine);
      h_errno = 300 + mine;
      const std::string library = "/nonexistent/lib" + std::to_string(mine) + ".so";
      dlopen(library.c_str(), RTLD_NOW);
      const locale_t c_locale = mine % 2 ? newlocale(LC_ALL_MASK, "C", nullptr) : LC_GLOBAL_LOCALE;
      uselocale(c_locale);
#pragma omp barrier
      CHECK(expected_error == error, "strerror's text after a barrier: '%s'", error);
      CHECK(expected_dotted == dotted, "inet_ntoa's text after a barrier: '%s'", dotted);
      CHECK_EQUAL(h_errno, 300 + mine, "h_errno after a barrier");
      CHECK(uselocale(nullptr) == c_locale, "the locale of a member changed at a barrier");
      const char* const failure = dlerror();
      CHECK(failure && strstr(failure, library.c_str()), "dlerror after a barrier: '%s'", failure ? failure : "(none)");
      uselocale(LC_GLOBAL_LOCALE);
      if (mine % 2) {
        freelocale(c_locale);
      }
    }
  }
}

void malloc_across_barriers() {
  for (int members : {16, 64}) {
    std::vector<std::vector<unsigned char*>> blocks(static_cast<size_t>(members));
    for (int i = 0; i < repeats(3); i++) {
#pragma omp parallel num_threads(members)
      {
        const auto mine = static_cast<size_t>(omp_get_thread_num());
        const auto count = static_cast<size_t>(members);
        for (int round = 0; round < 5; round++) {
          blocks[mine].clear();
          for (size_t j = 0; j < 60; j++) {
            const size_t size = 1 + (j * 37 + mine * 11) % 900;
            auto* const block = static_cast<unsigned char*>(malloc(size));
            CHECK(block != nullptr, "malloc(%zu)", size);
            memset(block, static_cast<int>(mine), size);
            blocks[mine].push_back(block);
          }
#pragma omp barrier
          // Each frees half of its own, then half of its neighbour's.
          const size_t neighbour = (mine + 1) % count;
          for (size_t j = 0; j < 60; j += 2) {
            CHECK_EQUAL(blocks[mine][j][0], mine % 256, "byte of an own block");
            free(blocks[mine][j]);
          }
          for (size_t j = 1; j < 60; j += 2) {
            const size_t size = 1 + (j * 37 + neighbour * 11) % 900;
            CHECK_EQUAL(blocks[neighbour][j][size - 1], neighbour % 256, "byte of a neighbour's block");
            free(blocks[neighbour][j]);
          }
#pragma omp barrier
        }
      }
    }
  }
}

// C++ thread_local objects with constructors and destructors.
std::atomic<int> alive{0};
std::atomic<int> wrong_thread{0};

struct Counted {
  pid_t creator;
  int value;
  Counted() : creator(thread_id()), value(0) { alive++; }
  ~Counted() {
    if (creator != thread_id()) {
      wrong_thread++;
    }
    alive--;
  }
};

thread_local Counted counted;

void* root_with_objects(void*) {
  counted.value = 5;
#pragma omp parallel num_threads(4)
  {
#pragma omp barrier
#pragma omp master
    {
      counted.value++;
      CHECK_EQUAL(counted.value, 6, "thread_local object of a root, in its region");
    }
  }
  CHECK_EQUAL(counted.value, 6, "thread_local object of a root, after its region");
  return nullptr;
}

void objects_of_roots_are_destroyed() {
  for (int i = 0; i < repeats(20); i++) {
    const int before = alive.load();
    pthread_t threads[4];
    for (auto& thread : threads) {
      CHECK(pthread_create(&thread, nullptr, root_with_objects, nullptr) == 0, "pthread_create failed");
    }
    for (const auto thread : threads) {
      pthread_join(thread, nullptr);
    }
    CHECK_EQUAL(alive.load(), before, "thread_local objects of roots that have ended");
    CHECK_EQUAL(wrong_thread.load(), 0, "thread_local objects destroyed on a thread that is not theirs");
  }
}

thread_local std::string text;

void objects_of_members() {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(16)
    {
      const int mine = omp_get_thread_num();
      text = std::string(100, static_cast<char>('a' + mine));
#pragma omp barrier
      CHECK(text == std::string(100, static_cast<char>('a' + mine)), "thread_local string after a barrier");
#pragma omp barrier
      text += "more";
      CHECK_EQUAL(text.size(), 104, "length of a thread_local string");
    }
  }
}

// The values of a function that was interrupted by a task belong to the member all the same.
void values_around_tasks() {
  for (int i = 0; i < repeats(5); i++) {
#pragma omp parallel num_threads(16)
    {
      plain = 40 + omp_get_thread_num();
      const int mine = plain;
#pragma omp taskgroup
      for (int task = 0; task < 20; task++) {
#pragma omp task
        {
          // A tied task stays with one thread: what it stores it finds again after its own taskwait.
          const int number = omp_get_thread_num();
          const int* const address = &private_to_thread;
#pragma omp task
          sleep_seconds(0.00001);
#pragma omp taskwait
          CHECK_EQUAL(omp_get_thread_num(), number, "number of the thread of a tied task");
          CHECK(address == &private_to_thread, "a tied task moved to other thread-local storage");
        }
      }
      CHECK_EQUAL(plain, mine, "__thread variable after a taskgroup");
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const Case cases[] = {
      {"values_with_16_members", values_with_16_members, 0},
      {"values_with_64_members", values_with_64_members, 0},
      {"values_in_nested_members", values_in_nested_members, 0},
      {"persistence_between_regions", persistence_between_regions, 0},
      {"copyin_of_the_master", copyin_of_the_master, 0},
      {"errno_of_members", errno_of_members, 0},
      {"pthread_keys", pthread_keys, 0},
      {"pthread_self_tells_members_apart", pthread_self_tells_members_apart, 0},
      {"stack_of_members", stack_of_members, 0},
      {"cpu_time_of_members", cpu_time_of_members, 0},
      {"what_libc_keeps_per_thread", what_libc_keeps_per_thread, 0},
      {"malloc_across_barriers", malloc_across_barriers, 0},
      {"objects_of_roots_are_destroyed", objects_of_roots_are_destroyed, 0},
      {"objects_of_members", objects_of_members, 0},
      {"values_around_tasks", values_around_tasks, 0},
      {nullptr, nullptr, 0},
  };
  return run_cases(count, arguments, cases);
}
