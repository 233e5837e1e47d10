#include "belongings.h"

#include "where.h"

#include <stdatomic.h>
#include <stdint.h>

_Thread_local int own;
int kept_private;
static pthread_key_t key;
static atomic_int numbers = 1;

int* address_of_own(void) { return &own; }

void prepare_belongings(void) {
  const int error = pthread_key_create(&key, NULL);
  CHECK(error == 0, "pthread_key_create: %s", strerror(error));
}

struct Values values_here(void) {
  return (struct Values){own, kept_private, pthread_getspecific(key)};
}

void set_values(struct Values values) {
  own = values.own;
  kept_private = values.kept;
  pthread_setspecific(key, values.specific);
}

void check_values(struct Values values) {
  CHECK_EQUAL(own, values.own, "a thread-local variable");
  CHECK_EQUAL(kept_private, values.kept, "a threadprivate variable");
  CHECK(pthread_getspecific(key) == values.specific, "pthread_getspecific() has changed");
}

struct Belongings take_belongings(void) {
  const int number = atomic_fetch_add(&numbers, 1);
  const struct Values values = {number, -number, (void*)(intptr_t)number};
  set_values(values);
  return (struct Belongings){values, &own, &kept_private, pthread_self()};
}

void check_belongings(const struct Belongings* mine) {
  CHECK(mine->address == &own && mine->address_kept == &kept_private, "a thread-local variable has moved");
  check_values(mine->values);
  CHECK(pthread_equal(pthread_self(), mine->self), "pthread_self() has changed");
}
