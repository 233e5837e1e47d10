/* The entry points of libgomp's ABI called by hand: those that today's gcc emits and those of programs that were
 * built by older compilers (the _start forms, the plain and the nonmonotonic twins), in one table each. */
#include <stdbool.h>
#include <stdint.h>

#include "check.h"

typedef void (*function)(void*);

extern void GOMP_parallel_start(function, void*, unsigned);
extern void GOMP_parallel_end(void);
extern void GOMP_parallel(function, void*, unsigned, unsigned);
extern void GOMP_barrier(void);
extern void GOMP_critical_start(void);
extern void GOMP_critical_end(void);
extern void GOMP_critical_name_start(void**);
extern void GOMP_critical_name_end(void**);
extern void GOMP_atomic_start(void);
extern void GOMP_atomic_end(void);
extern void GOMP_ordered_start(void);
extern void GOMP_ordered_end(void);
extern bool GOMP_single_start(void);
extern void* GOMP_single_copy_start(void);
extern void GOMP_single_copy_end(void*);
extern unsigned GOMP_sections_start(unsigned);
extern unsigned GOMP_sections_next(void);
extern void GOMP_sections_end(void);
extern void GOMP_sections_end_nowait(void);
extern void GOMP_parallel_sections_start(function, void*, unsigned, unsigned);
extern void GOMP_parallel_sections(function, void*, unsigned, unsigned, unsigned);
extern void GOMP_loop_end(void);
extern void GOMP_loop_end_nowait(void);
extern void GOMP_taskwait(void);
extern void GOMP_taskyield(void);
extern void GOMP_taskgroup_start(void);
extern void GOMP_taskgroup_end(void);

typedef bool (*chunked_start)(long, long, long, long, long*, long*);
typedef bool (*plain_start)(long, long, long, long*, long*);
typedef bool (*next)(long*, long*);
typedef unsigned long long ull;
typedef bool (*ull_chunked_start)(bool, ull, ull, ull, ull, ull*, ull*);
typedef bool (*ull_plain_start)(bool, ull, ull, ull, ull*, ull*);
typedef bool (*ull_next)(ull*, ull*);

#define DECLARE_CHUNKED(name)                                                     \
  extern bool GOMP_loop_##name##_start(long, long, long, long, long*, long*);     \
  extern bool GOMP_loop_##name##_next(long*, long*);                              \
  extern bool GOMP_loop_ull_##name##_start(bool, ull, ull, ull, ull, ull*, ull*); \
  extern bool GOMP_loop_ull_##name##_next(ull*, ull*);
#define DECLARE_PLAIN(name)                                                  \
  extern bool GOMP_loop_##name##_start(long, long, long, long*, long*);      \
  extern bool GOMP_loop_##name##_next(long*, long*);                         \
  extern bool GOMP_loop_ull_##name##_start(bool, ull, ull, ull, ull*, ull*); \
  extern bool GOMP_loop_ull_##name##_next(ull*, ull*);

DECLARE_CHUNKED(static)
DECLARE_CHUNKED(dynamic)
DECLARE_CHUNKED(guided)
DECLARE_CHUNKED(nonmonotonic_dynamic)
DECLARE_CHUNKED(nonmonotonic_guided)
DECLARE_CHUNKED(ordered_static)
DECLARE_CHUNKED(ordered_dynamic)
DECLARE_CHUNKED(ordered_guided)
DECLARE_PLAIN(runtime)
DECLARE_PLAIN(nonmonotonic_runtime)
DECLARE_PLAIN(maybe_nonmonotonic_runtime)
DECLARE_PLAIN(ordered_runtime)

#define CHUNKED(name, ordered)                                                                          \
  {                                                                                                     \
#name, GOMP_loop_##name##_start, NULL, GOMP_loop_##name##_next, GOMP_loop_ull_##name##_start, NULL, \
        GOMP_loop_ull_##name##_next, ordered                                                            \
  }
#define PLAIN(name, ordered)                                                                            \
  {                                                                                                     \
#name, NULL, GOMP_loop_##name##_start, GOMP_loop_##name##_next, NULL, GOMP_loop_ull_##name##_start, \
        GOMP_loop_ull_##name##_next, ordered                                                            \
  }

typedef struct {
  const char* name;
  chunked_start start;
  plain_start start_plain;
  next advance;
  ull_chunked_start ull_start;
  ull_plain_start ull_start_plain;
  ull_next ull_advance;
  bool ordered;
} loop_kind;

static const loop_kind loop_kinds[] = {
    CHUNKED(static, false),
    CHUNKED(dynamic, false),
    CHUNKED(guided, false),
    CHUNKED(nonmonotonic_dynamic, false),
    CHUNKED(nonmonotonic_guided, false),
    CHUNKED(ordered_static, true),
    CHUNKED(ordered_dynamic, true),
    CHUNKED(ordered_guided, true),
    PLAIN(runtime, false),
    PLAIN(nonmonotonic_runtime, false),
    PLAIN(maybe_nonmonotonic_runtime, false),
    PLAIN(ordered_runtime, true),
};
enum { KINDS = sizeof loop_kinds / sizeof *loop_kinds, TRIPS = 100 };

typedef struct {
  const loop_kind* kind;
  long first, last, step, chunk;
  int times[TRIPS];
  int next, wrong;
} loop_run;

static void run_chunk(loop_run* run, long from, long to) {
  for (long i = from; run->step > 0 ? i < to : i > to; i += run->step) {
    const long position = (i - run->first) / run->step;
    if (position < 0 || position >= TRIPS) {
      check_fail(__FILE__, __LINE__, run->kind->name);
      return;
    }
    check_add(&run->times[position], 1);
    if (!run->kind->ordered) continue;
    GOMP_ordered_start();
    if (run->next != position) run->wrong++;
    run->next = (int)position + 1;
    GOMP_ordered_end();
  }
}

static void loop_member(void* argument) {
  loop_run* const run = (loop_run*)argument;
  const loop_kind* const kind = run->kind;
  long from, to;
  bool more = kind->start ? kind->start(run->first, run->last, run->step, run->chunk, &from, &to)
                          : kind->start_plain(run->first, run->last, run->step, &from, &to);
  for (; more; more = kind->advance(&from, &to)) run_chunk(run, from, to);
  GOMP_loop_end();
}

static void loop_ull_member(void* argument) {
  loop_run* const run = (loop_run*)argument;
  const loop_kind* const kind = run->kind;
  ull from, to;
  const ull first = (ull)run->first, last = (ull)run->last, step = (ull)run->step;
  const bool up = run->step > 0;
  bool more = kind->ull_start ? kind->ull_start(up, first, last, step, (ull)run->chunk, &from, &to)
                              : kind->ull_start_plain(up, first, last, step, &from, &to);
  for (; more; more = kind->ull_advance(&from, &to)) run_chunk(run, (long)from, (long)to);
  GOMP_loop_end_nowait();
}

static void check_loop(const loop_run* run, int trips, const char* what) {
  int good = run->wrong == 0 && (!run->kind->ordered || run->next == trips);
  for (int i = 0; i < TRIPS; ++i) good &= run->times[i] == (i < trips);
  if (!good) {
    char text[128];
    snprintf(text, sizeof text, "%s loop %s: iterations or their order wrong", what, run->kind->name);
    check_fail(__FILE__, __LINE__, text);
  }
}

static void loops(void) {
  static const struct {
    long first, last, step, chunk;
    int trips;
  } ranges[] = {{0, 100, 1, 1, 100}, {3, 100, 4, 3, 25}, {200, 100, -1, 7, 100}, {90, 3, -10, 1, 9}, {5, 5, 1, 1, 0}};
  for (int k = 0; k < KINDS; ++k)
    for (unsigned r = 0; r < sizeof ranges / sizeof *ranges; ++r)
      for (int twin = 0; twin < 2; ++twin) {
        loop_run run = {&loop_kinds[k], ranges[r].first, ranges[r].last, ranges[r].step, ranges[r].chunk, {0}, 0, 0};
        GOMP_parallel(twin ? loop_ull_member : loop_member, &run, 0, 0);
        check_loop(&run, ranges[r].trips, twin ? "ull" : "long");
      }
}

/* gcc 12's combined form: the schedule in a number, with room for task reductions that nobody asks for. */
extern bool GOMP_loop_start(long, long, long, long, long, long*, long*, uintptr_t*, void**);
extern bool GOMP_loop_ordered_start(long, long, long, long, long, long*, long*, uintptr_t*, void**);
extern bool GOMP_loop_ull_start(bool, ull, ull, ull, long, ull, ull*, ull*, uintptr_t*, void**);
extern bool GOMP_loop_ull_ordered_start(bool, ull, ull, ull, long, ull, ull*, ull*, uintptr_t*, void**);

typedef struct {
  loop_run run;
  long schedule;
  int zeroed;
} numbered_run;

/* 0, and 4 where the clause says nonmonotonic. */
static bool is_runtime(long schedule) { return schedule % 4 == 0; }

static const loop_kind* kind_of(long schedule, bool ordered) {
  for (int k = 0; k < KINDS; ++k) {
    const char* name = loop_kinds[k].name;
    if (loop_kinds[k].ordered != ordered) continue;
    if (ordered) name += strlen("ordered_");
    if (strcmp(name, is_runtime(schedule) ? "runtime"
                     : schedule == 1      ? "static"
                     : schedule == 2      ? "dynamic"
                                          : "guided") == 0)
      return &loop_kinds[k];
  }
  return NULL;
}

static void numbered_member(void* argument) {
  numbered_run* const numbered = (numbered_run*)argument;
  loop_run* const run = &numbered->run;
  long from, to;
  void* memory = (void*)(uintptr_t)16; /* asks for 16 zeroed bytes that the team shares */
  bool more = run->kind->ordered ? GOMP_loop_ordered_start(run->first, run->last, run->step, numbered->schedule,
                                                           run->chunk, &from, &to, NULL, &memory)
                                 : GOMP_loop_start(run->first, run->last, run->step, numbered->schedule, run->chunk,
                                                   &from, &to, NULL, &memory);
  if (((int*)memory)[1] == 0) check_add(&numbered->zeroed, 1);
  check_add((int*)memory, 1);
  for (; more; more = run->kind->advance(&from, &to)) run_chunk(run, from, to);
  GOMP_barrier();
  CHECK_EQ(*(int*)memory, omp_get_num_threads());
  GOMP_loop_end();
}

static void numbered_ull_member(void* argument) {
  numbered_run* const numbered = (numbered_run*)argument;
  loop_run* const run = &numbered->run;
  ull from, to;
  const bool up = run->step > 0;
  bool more = run->kind->ordered
                  ? GOMP_loop_ull_ordered_start(up, (ull)run->first, (ull)run->last, (ull)run->step, numbered->schedule,
                                                (ull)run->chunk, &from, &to, NULL, NULL)
                  : GOMP_loop_ull_start(up, (ull)run->first, (ull)run->last, (ull)run->step, numbered->schedule,
                                        (ull)run->chunk, &from, &to, NULL, NULL);
  for (; more; more = run->kind->ull_advance(&from, &to)) run_chunk(run, (long)from, (long)to);
  GOMP_loop_end();
}

static void numbered_loops(void) {
  for (long schedule = 0; schedule <= 4; ++schedule)
    for (int ordered = 0; ordered < 2; ++ordered)
      for (int twin = 0; twin < 2; ++twin) {
        const int chunk = is_runtime(schedule) ? 0 : 6;
        numbered_run run = {{kind_of(schedule, ordered), 10, 210, 2, chunk, {0}, 0, 0}, schedule, 0};
        GOMP_parallel(twin ? numbered_ull_member : numbered_member, &run, 0, 0);
        check_loop(&run.run, 100, "numbered");
      }
}

/* Loops that are fused with parallel. */
typedef void (*parallel_loop)(function, void*, unsigned, long, long, long, long, unsigned);
typedef void (*parallel_loop_plain)(function, void*, unsigned, long, long, long, unsigned);
typedef void (*parallel_loop_start)(function, void*, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_static(function, void*, unsigned, long, long, long, long, unsigned);
extern void GOMP_parallel_loop_dynamic(function, void*, unsigned, long, long, long, long, unsigned);
extern void GOMP_parallel_loop_guided(function, void*, unsigned, long, long, long, long, unsigned);
extern void GOMP_parallel_loop_nonmonotonic_dynamic(function, void*, unsigned, long, long, long, long, unsigned);
extern void GOMP_parallel_loop_nonmonotonic_guided(function, void*, unsigned, long, long, long, long, unsigned);
extern void GOMP_parallel_loop_runtime(function, void*, unsigned, long, long, long, unsigned);
extern void GOMP_parallel_loop_nonmonotonic_runtime(function, void*, unsigned, long, long, long, unsigned);
extern void GOMP_parallel_loop_maybe_nonmonotonic_runtime(function, void*, unsigned, long, long, long, unsigned);
extern void GOMP_parallel_loop_static_start(function, void*, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_dynamic_start(function, void*, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_guided_start(function, void*, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_runtime_start(function, void*, unsigned, long, long, long);

static const struct {
  const char* name; /* of the loop kind whose next function it uses */
  parallel_loop run;
  parallel_loop_plain run_plain;
  parallel_loop_start start;
} fused_kinds[] = {
    {"static", GOMP_parallel_loop_static, NULL, GOMP_parallel_loop_static_start},
    {"dynamic", GOMP_parallel_loop_dynamic, NULL, GOMP_parallel_loop_dynamic_start},
    {"guided", GOMP_parallel_loop_guided, NULL, GOMP_parallel_loop_guided_start},
    {"nonmonotonic_dynamic", GOMP_parallel_loop_nonmonotonic_dynamic, NULL, NULL},
    {"nonmonotonic_guided", GOMP_parallel_loop_nonmonotonic_guided, NULL, NULL},
    {"runtime", NULL, GOMP_parallel_loop_runtime, NULL},
    {"nonmonotonic_runtime", NULL, GOMP_parallel_loop_nonmonotonic_runtime, NULL},
    {"maybe_nonmonotonic_runtime", NULL, GOMP_parallel_loop_maybe_nonmonotonic_runtime, NULL},
};

static void fused_member(void* argument) {
  loop_run* const run = (loop_run*)argument;
  long from, to;
  while (run->kind->advance(&from, &to)) run_chunk(run, from, to);
  GOMP_loop_end_nowait();
}

static void fused_loops(void) {
  for (unsigned f = 0; f < sizeof fused_kinds / sizeof *fused_kinds; ++f) {
    loop_run run = {NULL, 7, 107, 1, 3, {0}, 0, 0};
    for (int k = 0; k < KINDS; ++k)
      if (strcmp(loop_kinds[k].name, fused_kinds[f].name) == 0) run.kind = &loop_kinds[k];
    loop_run old = run;
    if (fused_kinds[f].run)
      fused_kinds[f].run(fused_member, &run, 5, 7, 107, 1, 3, 0);
    else
      fused_kinds[f].run_plain(fused_member, &run, 5, 7, 107, 1, 0);
    check_loop(&run, 100, "fused");
    if (fused_kinds[f].start == NULL) continue;
    fused_kinds[f].start(fused_member, &old, 5, 7, 107, 1, 3);
    fused_member(&old);
    GOMP_parallel_end();
    check_loop(&old, 100, "old fused");
  }
  loop_run old = {&loop_kinds[8], 7, 107, 1, 0, {0}, 0, 0};
  GOMP_parallel_loop_runtime_start(fused_member, &old, 5, 7, 107, 1);
  fused_member(&old);
  GOMP_parallel_end();
  check_loop(&old, 100, "old fused");
}

/* The sizes of guided chunks: they shrink with what is left, and none but the last is below the chunk size. */
typedef struct {
  int count;
  long from[2000], size[2000];
  long chunk;
  bool nonmonotonic;
} guided_run;

static void guided_member(void* argument) {
  guided_run* const run = (guided_run*)argument;
  long from, to;
  bool more = run->nonmonotonic ? GOMP_loop_nonmonotonic_guided_start(0, 2000, 1, run->chunk, &from, &to)
                                : GOMP_loop_guided_start(0, 2000, 1, run->chunk, &from, &to);
  while (more) {
    const int k = check_add(&run->count, 1) - 1;
    run->from[k] = from;
    run->size[k] = to - from;
    more = run->nonmonotonic ? GOMP_loop_nonmonotonic_guided_next(&from, &to) : GOMP_loop_guided_next(&from, &to);
  }
  GOMP_loop_end();
}

static void guided_sizes(void) {
  for (long chunk = 1; chunk <= 64; chunk *= 8)
    for (int members = 1; members <= 8; members *= 2)
      for (int nonmonotonic = 0; nonmonotonic < 2; ++nonmonotonic) {
        guided_run* const run = (guided_run*)calloc(1, sizeof *run);
        long size_at[2000] = {0}, position = 0;
        run->chunk = chunk;
        run->nonmonotonic = nonmonotonic;
        GOMP_parallel(guided_member, run, (unsigned)members, 0);
        for (int k = 0; k < run->count; ++k) size_at[run->from[k]] = run->size[k];
        while (position < 2000) {
          const long left = 2000 - position, share = (left + members - 1) / members;
          const long size = size_at[position];
          if (size <= 0) {
            check_fail_values(__FILE__, __LINE__, "a gap between guided chunks: position, size", position, size);
            break;
          }
          CHECK_GE(size, left < chunk ? left : chunk);
          CHECK_LE(size, share > chunk ? share : chunk);
          position += size;
        }
        CHECK_EQ(position, 2000);
        /* A geometric series, not a list of chunk-sized pieces. */
        if (chunk == 1 && members < 8) CHECK_LE(run->count, 250);
        free(run);
      }
}

static void old_member(void* argument) {
  check_add((int*)argument, 1);
  GOMP_barrier();
  if (omp_get_thread_num() == 0) CHECK_EQ(check_load((int*)argument), omp_get_num_threads());
}

static void old_parallel(void) {
  for (unsigned members = 1; members <= 9; members += 4) {
    int count = 0;
    GOMP_parallel_start(old_member, &count, members);
    CHECK_EQ(omp_get_num_threads(), members);
    CHECK_EQ(omp_get_thread_num(), 0);
    old_member(&count);
    GOMP_parallel_end();
    CHECK_EQ(count, members);
  }
  int count = 0;
  const int level = omp_get_level();
  GOMP_parallel_start(old_member, &count, 0);
  CHECK_EQ(omp_get_num_threads(), omp_get_max_threads());
  CHECK_EQ(omp_get_level(), level + 1);
  old_member(&count);
  GOMP_parallel_end();
  CHECK_EQ(omp_get_level(), level);
  /* inside each other */
  int inner = 0;
  count = 0;
  GOMP_parallel_start(old_member, &count, 3);
  GOMP_parallel_start(old_member, &inner, 2);
  CHECK_EQ(omp_get_level(), level + 2);
  old_member(&inner);
  GOMP_parallel_end();
  old_member(&count);
  GOMP_parallel_end();
  CHECK_EQ(count, 3);
}

static void sections_member(void* argument) {
  int* const times = (int*)argument;
  for (int round = 0; round < 3; ++round) {
    for (unsigned s = GOMP_sections_start(5); s != 0; s = GOMP_sections_next()) {
      CHECK(s >= 1 && s <= 5);
      check_add(&times[s], 1);
    }
    if (round == 0)
      GOMP_sections_end();
    else
      GOMP_sections_end_nowait();
  }
}

static void fused_sections_member(void* argument) {
  int* const times = (int*)argument;
  for (unsigned s = GOMP_sections_next(); s != 0; s = GOMP_sections_next()) check_add(&times[s], 1);
  GOMP_sections_end_nowait();
}

extern unsigned GOMP_sections2_start(unsigned, uintptr_t*, void**);

static void sections2_member(void* argument) {
  int* const times = (int*)argument;
  void* memory = (void*)(uintptr_t)8;
  unsigned s = GOMP_sections2_start(5, NULL, &memory);
  check_add((int*)memory, 1);
  for (; s != 0; s = GOMP_sections_next()) check_add(&times[s], 1);
  GOMP_barrier();
  CHECK_EQ(*(int*)memory, omp_get_num_threads());
  GOMP_sections_end();
}

static void sections(void) {
  int times[6] = {0};
  GOMP_parallel(sections_member, times, 0, 0);
  for (int i = 1; i <= 5; ++i) CHECK_EQ(times[i], 3);
  GOMP_parallel_sections(fused_sections_member, times, 4, 5, 0);
  for (int i = 1; i <= 5; ++i) CHECK_EQ(times[i], 4);
  GOMP_parallel_sections_start(fused_sections_member, times, 4, 5);
  fused_sections_member(times);
  GOMP_parallel_end();
  for (int i = 1; i <= 5; ++i) CHECK_EQ(times[i], 5);
  GOMP_parallel(sections2_member, times, 0, 0);
  for (int i = 1; i <= 5; ++i) CHECK_EQ(times[i], 6);
}

typedef struct {
  int singles, plain, named, atomics, groups;
} others;

static void* critical_name;

static void others_member(void* argument) {
  others* const o = (others*)argument;
  if (GOMP_single_start()) check_add(&o->singles, 1);
  GOMP_barrier();
  int local = 0;
  int* copied = (int*)GOMP_single_copy_start();
  if (copied == NULL) {
    local = 31;
    GOMP_single_copy_end(&local);
  } else {
    CHECK_EQ(*copied, 31);
  }
  GOMP_barrier();
  GOMP_critical_start();
  o->plain++;
  GOMP_critical_end();
  GOMP_critical_name_start(&critical_name);
  o->named++;
  GOMP_critical_name_end(&critical_name);
  GOMP_atomic_start();
  o->atomics++;
  GOMP_atomic_end();
  GOMP_taskgroup_start();
  GOMP_taskyield();
  GOMP_taskwait();
  GOMP_taskgroup_end();
  check_add(&o->groups, 1);
}

static void other_constructs(void) {
  others o = {0, 0, 0, 0, 0};
  GOMP_parallel(others_member, &o, 6, 0);
  CHECK_EQ(o.singles, 1);
  if (check_where == CHECK_SERIAL) {
    CHECK_EQ(o.plain, 6);
    CHECK_EQ(o.named, 6);
    CHECK_EQ(o.atomics, 6);
  }
  CHECK_EQ(o.groups, 6);
}

/* GOMP_task with a copy function, alignment and the flags by hand. */
extern void GOMP_task(function, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);

typedef struct {
  int* sum;
  int value;
} task_data;

static void task_body(void* argument) {
  const task_data* const data = (const task_data*)argument;
  CHECK_EQ((uintptr_t)data % 64, 0);
  check_add(data->sum, data->value);
}

static void task_copy(void* to, void* from) {
  *(task_data*)to = *(const task_data*)from;
  ((task_data*)to)->value += 1000;
}

static void task_member(void* argument) {
  if (!GOMP_single_start()) return;
  for (int i = 0; i < 100; ++i) {
    _Alignas(64) task_data data = {(int*)argument, i};
    GOMP_task(task_body, &data, NULL, sizeof data, 64, true, 0, NULL, 0, NULL);
    GOMP_task(task_body, &data, task_copy, sizeof data, 64, i % 2, 0, NULL, 0, NULL);
  }
}

static void tasks(void) {
  int sum = 0;
  GOMP_parallel(task_member, &sum, 0, 0);
  /* An undeferred task gets its data through the copy function as well. */
  CHECK_EQ(sum, 2 * 4950 + 100 * 1000);
}

static void body(void) {
  loops();
  numbered_loops();
  fused_loops();
  guided_sizes();
  old_parallel();
  sections();
  other_constructs();
  tasks();
}

CHECK_MAIN(body)
