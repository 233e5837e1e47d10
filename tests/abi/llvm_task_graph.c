/* The dependences of tasks, as a program sees them that looks for them: each task is found among the successors of
 * those that it waits for, once, whatever number of addresses makes it wait. */
#include "check.h"

typedef struct {
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char* source;
} place;

typedef struct task task;
typedef int32_t routine(int32_t, task*);
struct task {
  void* shared;
  routine* entry;
  int32_t part;
  void *destroy, *priority;
};

typedef struct {
  intptr_t address;
  size_t length;
  int32_t flags;
} dependence;

struct list;
typedef struct {
  const struct list* successors;
} node;
typedef struct list {
  const node* node;
  const struct list* next;
} list;

enum { tied = 1, in = 1, out = 2, most = 8 };

task* __kmpc_omp_task_alloc(place*, int32_t, int32_t, size_t, size_t, routine*);
int32_t __kmpc_omp_task(place*, int32_t, task*);
int32_t __kmpc_omp_task_with_deps(place*, int32_t, task*, int32_t, dependence*, int32_t, dependence*);
const list* __kmpc_task_get_successors(task*);
const node* __kmpc_task_get_depnode(task*);
int32_t __kmpc_global_thread_num(place*);

static place here = {0, 2, 0, 0, ";file;function;1;1;;"};
static int ended;

static int32_t body_of_task(int32_t thread, task* self) {
  (void)thread;
  (void)self;
  check_add(&ended, 1);
  return 0;
}

/* A task that depends on x and y as said; 0: not at all. */
static task* create(char* x, int of_x, char* y, int of_y) {
  const int32_t self = __kmpc_global_thread_num(&here);
  task* const made = __kmpc_omp_task_alloc(&here, self, tied, sizeof(task), 0, body_of_task);
  dependence list[2];
  int count = 0;
  if (of_x) list[count++] = (dependence){(intptr_t)x, 1, of_x};
  if (of_y) list[count++] = (dependence){(intptr_t)y, 1, of_y};
  if (count != 0)
    __kmpc_omp_task_with_deps(&here, self, made, count, list, 0, NULL);
  else
    __kmpc_omp_task(&here, self, made);
  return made;
}

/* The successors are these, in any order. */
static void check_successors(task* of, int count, task* const* expected) {
  const list* at = __kmpc_task_get_successors(of);
  CHECK(__kmpc_task_get_depnode(of)->successors == at);
  int found = 0;
  for (; at != NULL && found <= most; at = at->next, ++found) {
    int known = 0;
    for (int i = 0; i < count; ++i) known += __kmpc_task_get_depnode(expected[i]) == at->node;
    CHECK_EQ(known, 1);
    for (const list* other = at->next; other != NULL; other = other->next) CHECK(other->node != at->node);
  }
  CHECK_EQ(found, count);
}

static void graph(void) {
  char x, y;
  task* const a = create(&x, out, &y, 0);
  task* const b = create(&x, 0, &y, out);
  task* const c = create(&x, in, &y, in);
  task* const d = create(&x, in, &y, 0);
  task* const e = create(&x, out, &y, out);
  task* const f = create(&x, out, &y, out);
  check_successors(a, 2, (task*[]){c, d});
  check_successors(b, 1, (task*[]){c});
  check_successors(c, 1, (task*[]){e});
  check_successors(d, 1, (task*[]){e});
  check_successors(e, 1, (task*[]){f});
  check_successors(f, 0, NULL);
  CHECK(__kmpc_task_get_depnode(create(&x, 0, &y, 0)) == NULL);
}

/* The other thread is busy, so that no task begins before its creator waits. */
static void body(void) {
  int over = 0;
  ended = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    graph();
    check_store(&over, 1);
#pragma omp taskwait
    CHECK_EQ(check_load(&ended), 7);
  } else {
    while (!check_load(&over)) usleep(100);
  }
}

CHECK_MAIN_FLAT(body)
