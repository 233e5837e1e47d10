#include <stdio.h>
#include <weft/weft.h>

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_eventual answer = WEFT_EVENTUAL_INIT;
static weft_barrier barrier = WEFT_BARRIER_INIT(3);
static int sum = 0, sums_seen[3];

static void ask(void* argument) {
  void* value = NULL;
  (void)argument;
  weft_eventual_wait(&answer, &value, NULL); /* meanwhile the worker runs other units */
  printf("the answer is %d\n", *(int*)value);
}

static void add(void* argument) {
  int* number = argument;
  int own = *number;
  weft_mutex_lock(&mutex);
  sum += own;
  weft_mutex_unlock(&mutex);
  weft_barrier_wait(&barrier, NULL); /* all three have added */
  *number = sum;
}

int main(void) {
  int number = 42;
  weft_unit *asking = NULL, *adding[3];
  weft_init();

  weft_unit_create(ask, NULL, NULL, &asking);
  if (weft_eventual_timed_wait(&answer, 1000 * 1000, NULL, NULL) == WEFT_ERR_TIMEOUT)
    puts("no answer in a millisecond");
  weft_eventual_set(&answer, &number, sizeof number);
  weft_unit_free(asking);

  for (int i = 0; i < 3; ++i) {
    sums_seen[i] = i + 1;
    weft_unit_create(add, &sums_seen[i], NULL, &adding[i]);
  }
  weft_unit_free_many(3, adding);
  printf("they have seen %d, %d and %d\n", sums_seen[0], sums_seen[1], sums_seen[2]);
  return weft_finalize();
}
