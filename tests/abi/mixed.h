/* What the two halves of the mixed test offer each other: the same functions, compiled by GCC and by LLVM. */
#ifndef WEFT_TESTS_ABI_MIXED_H
#define WEFT_TESTS_ABI_MIXED_H

struct half {
  const char* compiler;
  void (*set_threads)(int);
  int (*max_threads)(void);
  int (*level)(void);
  int (*ancestor)(int);
  /* Opens a region of `members`, in which each calls f(argument). */
  void (*region)(int members, void (*f)(void*), void* argument);
  /* For members of a region that either half has opened. */
  void (*barrier)(void);
  void (*loop)(int n, int* counts);   /* orphaned, dynamic */
  void (*shares)(int n, int* counts); /* orphaned, static */
  int (*single)(void);                /* whether the caller executes it */
  void (*tasks)(int n, int* count);
  void (*link)(int i, int* value); /* a task that depends on the last one through *value */
  void (*wait)(void);
  /* Calls f(argument) in a task within a final one. */
  void (*included)(void (*f)(void*), void* argument);
  /* Creates a task that is not deferred and whose event another thread fulfils a little later, when it has set *value.
   */
  void (*detached)(int* value);
  void* (*new_nest_lock)(void);
  void (*lock_twice)(void* lock); /* and unlocks once */
  void (*unlock)(void* lock);
};

extern const struct half gcc_half, llvm_half;

#endif
