// Calls of libc's that sleep, as the program makes them. They are libc's; but where a member makes one while others
// wait for a worker, the watchdog is told (core/watchdog.h). It would find out by itself only after a slice, 2 to 10
// ms, that this kernel thread sleeps, and have another one run the others.
//
//   nanosleep(), clock_nanosleep(), usleep(), sleep(), thrd_sleep()   for 0.2 ms and more
//   pthread_cond_wait() and its like, pthread_barrier_wait()          as they nearly always sleep
//
// Not what sleeps now and then (a mutex, a semaphore, read()): most of these calls do not, and would only be dearer.
//
// Rejected: to let the member wait as in taskwait, with its kernel thread for others meanwhile. When its time has come
// it would have to wait until one of these comes to a scheduling point; the kernel lets it go on at once.
//
// Names and versions are hidden as that of sched_yield() is (abi/sched_yield.cpp); where glibc has two versions, they
// do the same. Of the condition variables' oldest ones, before glibc 2.3.2, we have none.
#include <ctime>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include "core/watchdog.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/next_function.h"

namespace weft::openmp {
namespace {

constinit NextFunction<int(const timespec*, timespec*)> sleep_for("nanosleep");
constinit NextFunction<int(clockid_t, int, const timespec*, timespec*)> sleep_by_clock("clock_nanosleep");
constinit NextFunction<int(const timespec*, timespec*)> thread_sleep("thrd_sleep");
constinit NextFunction<unsigned(unsigned)> sleep_seconds("sleep");
constinit NextFunction<int(useconds_t)> sleep_microseconds("usleep");
constinit NextFunction<int(pthread_cond_t*, pthread_mutex_t*)> wait("pthread_cond_wait");
constinit NextFunction<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> wait_until("pthread_cond_timedwait");
constinit NextFunction<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> wait_by_clock(
    "pthread_cond_clockwait");
constinit NextFunction<int(pthread_barrier_t*)> meet("pthread_barrier_wait");

[[gnu::constructor]] void look_up() {
  sleep_for.look_up();
  sleep_by_clock.look_up();
  thread_sleep.look_up();
  sleep_seconds.look_up();
  sleep_microseconds.look_up();
  wait.look_up();
  wait_until.look_up();
  wait_by_clock.look_up();
  meet.look_up();
}

constexpr long least_microseconds = 200;

// Without a time libc says what is wrong.
bool is_long(const timespec* time) {
  return time != nullptr && (time->tv_sec > 0 || time->tv_nsec >= least_microseconds * 1000);
}

}  // namespace

WEFT_EXPORT int weft_nanosleep(const timespec* time, timespec* left) {
  if (is_long(time)) core::going_to_sleep();
  return sleep_for.get()(time, left);
}
WEFT_VERSION(weft_nanosleep, "nanosleep@GLIBC_2.2.5");

WEFT_EXPORT int weft_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if ((flags & TIMER_ABSTIME) != 0 || is_long(time)) core::going_to_sleep();
  return sleep_by_clock.get()(clock, flags, time, left);
}
WEFT_VERSION(weft_clock_nanosleep, "clock_nanosleep@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_clock_nanosleep_newer, weft_clock_nanosleep);
WEFT_VERSION(weft_clock_nanosleep_newer, "clock_nanosleep@GLIBC_2.17");

WEFT_EXPORT int weft_thrd_sleep(const timespec* time, timespec* left) {
  if (is_long(time)) core::going_to_sleep();
  return thread_sleep.get()(time, left);
}
WEFT_VERSION(weft_thrd_sleep, "thrd_sleep@GLIBC_2.28");

WEFT_EXPORT unsigned weft_sleep_seconds(unsigned seconds) {
  if (seconds != 0) core::going_to_sleep();
  return sleep_seconds.get()(seconds);
}
WEFT_VERSION(weft_sleep_seconds, "sleep@GLIBC_2.2.5");

WEFT_EXPORT int weft_usleep(useconds_t microseconds) {
  if (microseconds >= least_microseconds) core::going_to_sleep();
  return sleep_microseconds.get()(microseconds);
}
WEFT_VERSION(weft_usleep, "usleep@GLIBC_2.2.5");

WEFT_EXPORT int weft_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  core::going_to_sleep();
  return wait.get()(condition, mutex);
}
WEFT_VERSION(weft_pthread_cond_wait, "pthread_cond_wait@GLIBC_2.3.2");

WEFT_EXPORT int weft_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  core::going_to_sleep();
  return wait_until.get()(condition, mutex, until);
}
WEFT_VERSION(weft_pthread_cond_timedwait, "pthread_cond_timedwait@GLIBC_2.3.2");

WEFT_EXPORT int weft_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                            const timespec* until) {
  core::going_to_sleep();
  return wait_by_clock.get()(condition, mutex, clock, until);
}
WEFT_VERSION(weft_pthread_cond_clockwait, "pthread_cond_clockwait@GLIBC_2.30");
WEFT_DEFINE_JUMP(weft_pthread_cond_clockwait_newer, weft_pthread_cond_clockwait);
WEFT_VERSION(weft_pthread_cond_clockwait_newer, "pthread_cond_clockwait@GLIBC_2.34");

WEFT_EXPORT int weft_pthread_barrier_wait(pthread_barrier_t* barrier) {
  core::going_to_sleep();
  return meet.get()(barrier);
}
WEFT_VERSION(weft_pthread_barrier_wait, "pthread_barrier_wait@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_barrier_wait_newer, weft_pthread_barrier_wait);
WEFT_VERSION(weft_pthread_barrier_wait_newer, "pthread_barrier_wait@GLIBC_2.34");

}  // namespace weft::openmp
