/* Records which member ran which iterations of a loop, and in which order. */
#ifndef WEFT_TESTS_ABI_LOOP_LOG_H
#define WEFT_TESTS_ABI_LOOP_LOG_H

#include "check.h"

typedef struct {
  int iterations;
  int* owner;    /* member that ran iteration i, -1 before */
  int* times;    /* how often iteration i ran */
  int* sequence; /* position of iteration i among those of its member */
  int* length;   /* iterations of each member so far */
  int members;   /* room in length */
} loop_log;

enum { LOOP_LOG_MEMBERS = 256 };

CHECK_MAYBE_UNUSED static loop_log loop_log_new(int iterations) {
  loop_log log;
  log.iterations = iterations;
  log.members = LOOP_LOG_MEMBERS;
  log.owner = (int*)malloc(sizeof(int) * (size_t)(iterations + 1));
  log.times = (int*)malloc(sizeof(int) * (size_t)(iterations + 1));
  log.sequence = (int*)malloc(sizeof(int) * (size_t)(iterations + 1));
  log.length = (int*)malloc(sizeof(int) * LOOP_LOG_MEMBERS);
  for (int i = 0; i <= iterations; ++i) log.owner[i] = -1, log.times[i] = 0, log.sequence[i] = -1;
  for (int i = 0; i < LOOP_LOG_MEMBERS; ++i) log.length[i] = 0;
  return log;
}

CHECK_MAYBE_UNUSED static void loop_log_free(loop_log* log) {
  free(log->owner);
  free(log->times);
  free(log->sequence);
  free(log->length);
}

/* Called by the member that runs iteration i (numbered from 0 in iteration order). */
CHECK_MAYBE_UNUSED static void loop_log_hit(loop_log* log, int i) {
  const int me = omp_get_thread_num();
  if (i < 0 || i >= log->iterations || me < 0 || me >= log->members) {
    check_fail_values(__FILE__, __LINE__, "iteration or member out of range", i, me);
    return;
  }
  check_add(&log->times[i], 1);
  log->owner[i] = me;
  log->sequence[i] = log->length[me]++;
}

CHECK_MAYBE_UNUSED static void loop_log_each_once(const loop_log* log, const char* what, int line) {
  for (int i = 0; i < log->iterations; ++i)
    if (log->times[i] != 1) {
      check_fail_values(what, line, "iteration did not run once: iteration and times", i, log->times[i]);
      return;
    }
}

/* A member ran its iterations in increasing order. */
CHECK_MAYBE_UNUSED static void loop_log_monotonic(const loop_log* log, const char* what, int line) {
  int last[LOOP_LOG_MEMBERS];
  for (int i = 0; i < LOOP_LOG_MEMBERS; ++i) last[i] = -1;
  for (int i = 0; i < log->iterations; ++i) {
    const int owner = log->owner[i];
    if (owner < 0) continue;
    if (log->sequence[i] <= last[owner]) {
      check_fail_values(what, line, "iterations of a member out of order: member and iteration", owner, i);
      return;
    }
    last[owner] = log->sequence[i];
  }
}

/* Iterations [k * chunk, (k + 1) * chunk) stay together: one member, one after the other. */
CHECK_MAYBE_UNUSED static void loop_log_chunks(const loop_log* log, int chunk, const char* what, int line) {
  for (int i = 1; i < log->iterations; ++i) {
    if (i % chunk == 0) continue;
    if (log->owner[i] != log->owner[i - 1] || log->sequence[i] != log->sequence[i - 1] + 1) {
      check_fail_values(what, line, "chunk torn apart: iteration and chunk size", i, chunk);
      return;
    }
  }
}

/* Every run of consecutive iterations by one member, except the last one, has at least `least` of them. */
CHECK_MAYBE_UNUSED static void loop_log_run_at_least(const loop_log* log, int least, const char* what, int line) {
  int start = 0;
  for (int i = 1; i < log->iterations; ++i) {
    if (log->owner[i] == log->owner[i - 1] && log->sequence[i] == log->sequence[i - 1] + 1) continue;
    if (i - start < least) {
      check_fail_values(what, line, "chunk too small: size and least", i - start, least);
      return;
    }
    start = i;
  }
}

/* schedule(static, chunk): chunk k belongs to member k mod n. */
CHECK_MAYBE_UNUSED static void loop_log_round_robin(const loop_log* log, int chunk, int members, const char* what,
                                                    int line) {
  for (int i = 0; i < log->iterations; ++i)
    if (log->owner[i] != i / chunk % members) {
      check_fail_values(what, line, "static chunk with the wrong member: iteration and member", i, log->owner[i]);
      return;
    }
}

/* schedule(static): at most one chunk for each member, sizes that differ by at most what the specification lets
 * (approximately equal; both usual formulas give at most ceil(n / members)), in member order. */
CHECK_MAYBE_UNUSED static void loop_log_blocks(const loop_log* log, int members, const char* what, int line) {
  const int most = (log->iterations + members - 1) / members;
  int size = 0;
  for (int i = 0; i < log->iterations; ++i) {
    size = i > 0 && log->owner[i] == log->owner[i - 1] ? size + 1 : 1;
    if (size > most || (i > 0 && log->owner[i] < log->owner[i - 1])) {
      check_fail_values(what, line, "static block wrong: iteration and member", i, log->owner[i]);
      return;
    }
  }
}

#define LOOP_LOG_EACH_ONCE(log) loop_log_each_once(log, __FILE__, __LINE__)
#define LOOP_LOG_MONOTONIC(log) loop_log_monotonic(log, __FILE__, __LINE__)
#define LOOP_LOG_CHUNKS(log, chunk) loop_log_chunks(log, chunk, __FILE__, __LINE__)
#define LOOP_LOG_RUN_AT_LEAST(log, least) loop_log_run_at_least(log, least, __FILE__, __LINE__)
#define LOOP_LOG_ROUND_ROBIN(log, chunk, members) loop_log_round_robin(log, chunk, members, __FILE__, __LINE__)
#define LOOP_LOG_BLOCKS(log, members) loop_log_blocks(log, members, __FILE__, __LINE__)

#endif
