// Recursive Fibonacci: one unit for each call but the leaves, the other half of it called. Keys: n. A sample is divided
// by the number of units.
#include "native.h"

typedef struct {
  int n;
  long value;
} Fib;

static PeerResult fib(void* argument) {
  Fib* self = (Fib*)argument;
  if (self->n < 2) {
    self->value = self->n;
    PEER_END;
  }
  Fib left = {self->n - 1, 0}, right = {self->n - 2, 0};
  Unit unit;
  peer_create(&unit, fib, &left);
  (void)fib(&right);
  peer_join(&unit);
  self->value = left.value + right.value;
  PEER_END;
}

static void run_fib(void* argument) {
  Fib* root = (Fib*)argument;
  (void)fib(root);
}

static long fib_of(int n) {
  long a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    const long next = a + b;
    a = b;
    b = next;
  }
  return a;
}

static void run(void* argument) {
  const NativeRun* native = (const NativeRun*)argument;
  Fib root = {config_int(native->config, "n", 32), 0};
  const double start = now_ns();
  run_fib(&root);
  const bool ok = root.value == fib_of(root.n);
  const Samples samples = measure(native->options, now_ns() - start, run_fib, &root);
  print_native("fib", native->config, (double)fib_of(root.n + 1) - 1, &samples, ok);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=32", "n=32,workers=2"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
