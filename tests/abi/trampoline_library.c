/* For trampoline_late.c. */
int add_by_nested_function(int number, int other);

__attribute__((noipa)) static int call(int (*function)(int), int argument) { return function(argument); }

int add_by_nested_function(int number, int other) {
  int add(int more) { return number + more; }
  return call(add, other);
}
