// Two units on one worker that yield to each other. Keys: kind=yield (default: whoever is next), to (by name). A
// sample is divided by the number of yields.
#include "native.h"

enum { YIELDS = 10000 };

typedef struct Yielder {
  struct Yielder* other;
  Unit unit;
  int done;
} Yielder;

static PeerResult yield_often(void* argument) {
  Yielder* self = (Yielder*)argument;
  for (int i = 0; i < YIELDS; i++) peer_yield();
  self->done += YIELDS;
  PEER_END;
}

static PeerResult yield_to_often(void* argument) {
  Yielder* self = (Yielder*)argument;
  for (int i = 0; i < YIELDS; i++) peer_yield_to(&self->other->unit);
  self->done += YIELDS;
  PEER_END;
}

static PeerResult (*entry)(void*) = yield_often;
static long yields;

static void run_two(void* argument) {
  (void)argument;
  Yielder a = {NULL, 0, 0}, b = {&a, 0, 0};
  a.other = &b;
  peer_create(&a.unit, entry, &a);
  peer_create(&b.unit, entry, &b);
  peer_join(&a.unit);
  peer_join(&b.unit);
  yields += a.done + b.done;
}

static void run(void* argument) {
  const NativeRun* native = (const NativeRun*)argument;
  if (config_is(native->config, "kind", "to")) entry = yield_to_often;
  const Samples samples = measure(native->options, 0, run_two, NULL);
  print_native("yield", native->config, (double)(2 * YIELDS), &samples, yields > 0 && yields % (2L * YIELDS) == 0);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=yield", "kind=to"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
