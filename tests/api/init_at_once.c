/* Two threads call weft_init() at once: neither starts weft before the environment has been read. The second one calls
 * it while the first reads; it has 50 ms to come back too early. Wants WEFT_NUM_WORKERS=7. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

static pthread_t first, second;
static int has_begun = 0; /* the second thread; of the first one only */
static atomic_int is_back = 0;
static unsigned workers_seen = 0; /* by the second thread */

static void* start_too(void* argument) {
  (void)argument;
  if (weft_init() == WEFT_OK) workers_seen = weft_worker_count();
  atomic_store(&is_back, 1);
  return NULL;
}

static void let_the_second_begin(void) {
  const struct timespec step = {0, 1000000};
  has_begun = 1;
  if (pthread_create(&second, NULL, start_too, NULL) != 0) return;
  for (int milliseconds = 0; milliseconds < 50 && atomic_load(&is_back) == 0; ++milliseconds) nanosleep(&step, NULL);
}

/* In place of libc's. */
char* getenv(const char* name) {
  const size_t length = strlen(name);
  if (strncmp(name, "WEFT_", 5) == 0 && has_begun == 0 && pthread_equal(pthread_self(), first)) let_the_second_begin();
  for (char** variable = environ; variable != NULL && *variable != NULL; ++variable)
    if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') return *variable + length + 1;
  return NULL;
}

int main(void) {
  first = pthread_self();
  if (weft_init() != WEFT_OK) return 2;
  if (has_begun == 0) return puts("the library does not read through this program: the test shows nothing"), 3;
  if (pthread_join(second, NULL) != 0) return 4;
  if (workers_seen != 7 || weft_worker_count() != 7)
    return printf("%u and %u workers instead of 7\n", workers_seen, weft_worker_count()), 1;
  if (weft_finalize() != WEFT_OK || weft_finalize() != WEFT_OK) return 5;
  return 0;
}
