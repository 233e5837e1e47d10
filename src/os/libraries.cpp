// glibc (2.36, at least) takes a lock in dl_iterate_phdr(3) that it does not free in a forked child: if another thread
// is in there at the fork, the child's first call waits for ever. weft calls it often, and on threads that the program
// does not know of. So a fork waits until nobody of weft's is in there; not for ever, as a handler may fork over that
// very code.
#include "os/libraries.h"

#include <cerrno>
#include <ctime>
#include <pthread.h>

namespace weft::os {
namespace {

pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;
bool forks_wait = false;  // under the mutex, like the next
pthread_t forker{};       // who has locked it for a fork
bool for_fork = false;

void before_fork() {
  constexpr long limit_ns = 100000000;
  constexpr long second_ns = 1000000000;
  const int kept = errno;
  timespec limit{};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += limit_ns;
  limit.tv_sec += limit.tv_nsec / second_ns;
  limit.tv_nsec %= second_ns;
  if (pthread_mutex_timedlock(&looking, &limit) == 0) {
    forker = pthread_self();
    for_fork = true;
  }
  errno = kept;
}

void after_fork() {
  if (!for_fork || !pthread_equal(forker, pthread_self())) return;
  for_fork = false;
  pthread_mutex_unlock(&looking);
}

void after_fork_in_child() {
  for_fork = false;
  looking = PTHREAD_MUTEX_INITIALIZER;
}

}  // namespace

void for_each_object(int (*look)(dl_phdr_info*, std::size_t, void*), void* argument) {
  pthread_mutex_lock(&looking);
  if (!forks_wait) forks_wait = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
  dl_iterate_phdr(look, argument);
  pthread_mutex_unlock(&looking);
}

}  // namespace weft::os
