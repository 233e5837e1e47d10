/* A tool that believes nothing: it follows what it is told of threads, regions, tasks, waits and mutexes, and checks
 * that all of it fits together. Says so in one line on stderr when it is ended, with what it has counted; on the first
 * thing that does not fit, the process ends with a line that names it.
 *
 * WITNESS_REFUSES: it does not want to be started.
 * WITNESS_CREATES: it makes a task of its own while it is being started.
 * WITNESS_WANTS: "masked" or "doacross", of which it must have been told by then. */
#include <dlfcn.h>
#include <omp-tools.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { IMPLICIT = 1, TASK, SYNC, WAIT, WORK, MASKED, REDUCTION };
enum { DEEPEST = 4096 };

struct region {
  unsigned begun, ended, size;
  int is_league;
  pid_t process;
};

struct task {
  struct region* region;
  unsigned index; /* of the thread that executes it, in the region */
  int explicit_, begun, done;
};

struct thread {
  uint64_t id;
  struct task* current;
  unsigned depth;
  int ended;
  struct {
    enum kind kind;
    int which;
    void* what;
  } stack[DEEPEST];
};

static ompt_get_thread_data_t get_thread_data;
static ompt_get_task_info_t get_task_info;
static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_state_t get_state;
static ompt_get_unique_id_t get_unique_id;
static struct {
  unsigned threads, ended_threads, regions, ended_regions, members, created, completed, mutexes, chunks, pairs, cancels;
  unsigned masked, sources, sinks;
} count;

static void add(unsigned* counter, unsigned n) { __atomic_fetch_add(counter, n, __ATOMIC_RELAXED); }

static void fail(const char* format, ...) {
  va_list rest;
  char text[400];
  va_start(rest, format);
  vsnprintf(text, sizeof text, format, rest);
  va_end(rest);
  fprintf(stderr, "witness: %s\n", text);
  _exit(3);
}

static void* fresh(size_t size) {
  void* memory = calloc(1, size);
  if (memory == NULL) fail("no memory");
  return memory;
}

static struct thread* here(const char* event) {
  ompt_data_t* data = get_thread_data();
  if (data == NULL || data->ptr == NULL) fail("%s by a thread that has not begun", event);
  struct thread* thread = data->ptr;
  if (thread->ended) fail("%s by thread %llu, which has ended", event, (unsigned long long)thread->id);
  return thread;
}

static void push(struct thread* thread, enum kind kind, int which, void* what) {
  if (thread->depth == DEEPEST) fail("nested too deep");
  thread->stack[thread->depth].kind = kind;
  thread->stack[thread->depth].which = which;
  thread->stack[thread->depth++].what = what;
}

static void pop(struct thread* thread, enum kind kind, int which, void* what, const char* event) {
  if (thread->depth == 0) fail("%s ends, which has not begun", event);
  --thread->depth;
  if (thread->stack[thread->depth].kind != kind || thread->stack[thread->depth].which != which ||
      thread->stack[thread->depth].what != what)
    fail("%s %d ends within %d %d", event, which, thread->stack[thread->depth].kind,
         thread->stack[thread->depth].which);
}

/* What the runtime answers is what it has told before. */
static void check_task(struct thread* thread, ompt_data_t* task_data, const char* event) {
  ompt_data_t* asked = NULL;
  ompt_data_t* parallel = NULL;
  int number = -1, team = -1;
  if (task_data == NULL || task_data->ptr == NULL) fail("%s: a task without data", event);
  if (task_data->ptr != thread->current) fail("%s in a task that is not the current one", event);
  if (!get_task_info(0, NULL, &asked, NULL, &parallel, &number) || asked != task_data)
    fail("%s: ompt_get_task_info says another task", event);
  if (parallel == NULL || parallel->ptr != thread->current->region) fail("%s: another region", event);
  if (number != (int)thread->current->index)
    fail("%s: thread number %d, not %u", event, number, thread->current->index);
  if (!get_parallel_info(0, NULL, &team) || team != (int)thread->current->region->size)
    fail("%s: a team of %d, not %u", event, team, thread->current->region->size);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t* data) {
  struct thread* thread = fresh(sizeof *thread);
  if (data->ptr != NULL) fail("a thread begins with data");
  if (type != ompt_thread_initial && type != ompt_thread_worker) fail("thread type %d", type);
  thread->id = get_unique_id();
  data->ptr = thread;
  if (get_thread_data() != data) fail("ompt_get_thread_data is another's");
  add(&count.threads, 1);
}

static void on_thread_end(ompt_data_t* data) {
  struct thread* thread = here("thread_end");
  if (thread != data->ptr) fail("a thread ends on another");
  if (thread->depth != 0) fail("a thread ends in the midst of something");
  thread->ended = 1;
  add(&count.ended_threads, 1);
}

static void on_parallel_begin(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel, unsigned requested,
                              int flags, const void* code) {
  struct thread* thread = here("parallel_begin");
  check_task(thread, task, "parallel_begin");
  if (frame->enter_frame.ptr == NULL || code == NULL) fail("parallel_begin from nowhere");
  if (requested == 0 || requested > INT32_MAX) fail("parallel_begin with %u threads", requested);
  if (parallel->ptr != NULL) fail("a region begins with data");
  struct region* region = fresh(sizeof *region);
  region->is_league = (flags & ompt_parallel_league) != 0;
  region->process = getpid();
  parallel->ptr = region;
  add(&count.regions, 1);
}

static void on_parallel_end(ompt_data_t* parallel, ompt_data_t* task, int flags, const void* code) {
  struct region* region = parallel->ptr;
  check_task(here("parallel_end"), task, "parallel_end");
  (void)flags;
  if (code == NULL) fail("parallel_end from nowhere");
  const int has_all = region->process == getpid(); /* else the other members are the parent's */
  if (has_all && (region->size != region->begun || region->begun != region->ended))
    fail("a region of %u ends with %u members begun and %u ended", region->size, region->begun, region->ended);
  add(&count.ended_regions, 1);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                             unsigned index, int flags) {
  struct thread* thread = here("implicit_task");
  const int initial = (flags & ompt_task_initial) != 0;
  if (endpoint == ompt_scope_begin) {
    struct task* own = fresh(sizeof *own);
    if (task->ptr != NULL) fail("an implicit task begins with data");
    if (parallel->ptr == NULL) parallel->ptr = fresh(sizeof(struct region)); /* of an initial task */
    own->region = parallel->ptr;
    own->region->size = size;
    own->index = size == 1 ? 0 : index; /* a program thread's initial task is told of as number 1 */
    __atomic_fetch_add(&own->region->begun, 1, __ATOMIC_RELAXED);
    task->ptr = own;
    push(thread, IMPLICIT, (int)index, thread->current);
    thread->current = own;
    if (!initial) {
      if (index >= size) fail("member %u of %u", index, size);
    }
    if (get_state(NULL) > ompt_state_work_parallel) fail("a member begins in state %d", get_state(NULL));
    check_task(thread, task, "implicit_task");
    add(&count.members, 1);
  } else {
    if (task->ptr != thread->current) fail("an implicit task ends that is not the current one");
    struct task* own = task->ptr;
    --thread->depth;
    if (thread->stack[thread->depth].kind != IMPLICIT || thread->stack[thread->depth].which != (int)index)
      fail("implicit task %u ends within %d", index, thread->stack[thread->depth].kind);
    thread->current = thread->stack[thread->depth].what;
    own->done = 1;
    __atomic_fetch_add(&own->region->ended, 1, __ATOMIC_RELAXED);
  }
}

static void on_task_create(ompt_data_t* creator, const ompt_frame_t* frame, ompt_data_t* task, int flags, int depends,
                           const void* code) {
  struct thread* thread = here("task_create");
  check_task(thread, creator, "task_create");
  (void)depends;
  if (frame->enter_frame.ptr == NULL || code == NULL) fail("task_create from nowhere");
  if (task->ptr != NULL) fail("a task begins with data");
  struct task* own = fresh(sizeof *own);
  own->region = thread->current->region;
  own->explicit_ = (flags & ompt_task_explicit) != 0;
  task->ptr = own;
  add(&count.created, 1);
}

static void complete(struct task* task) {
  if (task->done) fail("a task ends twice");
  task->done = 1;
  add(&count.completed, 1);
}

static void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  struct thread* thread = here("task_schedule");
  struct task* from = prior->ptr;
  struct task* to = next != NULL ? next->ptr : NULL;
  switch (status) {
    case ompt_task_early_fulfill:
      return;
    case ompt_task_late_fulfill:
    case ompt_taskwait_complete:
      complete(from);
      return;
    case ompt_task_cancel:
      if (from != thread->current) { /* discarded */
        if (from->begun) fail("a task is discarded that has begun");
        complete(from);
        return;
      }
      break;
    default:
      break;
  }
  if (from != thread->current) fail("a switch from a task that is not the current one");
  if (to == NULL) fail("a switch to nothing");
  if (status == ompt_task_switch || status == ompt_task_yield) {
    if (to->begun || !to->explicit_) fail("a task begins twice");
    to->begun = 1;
    to->index = from->index;
    push(thread, TASK, 0, from);
  } else {
    pop(thread, TASK, 0, to, "a task");
    if (status != ompt_task_detach) complete(from);
  }
  thread->current = to;
}

static void on_dependences(ompt_data_t* task, const ompt_dependence_t* list, int n) {
  if (task->ptr == NULL || n <= 0) fail("dependences of nothing");
  for (int i = 0; i < n; ++i)
    if (list[i].dependence_type < ompt_dependence_type_in ||
        list[i].dependence_type > ompt_dependence_type_inout_all_memory)
      fail("dependence type %d", list[i].dependence_type);
  if (list[0].dependence_type == ompt_dependence_type_source) add(&count.sources, 1);
  if (list[0].dependence_type == ompt_dependence_type_sink) add(&count.sinks, 1);
}

static void on_task_dependence(ompt_data_t* source, ompt_data_t* sink) {
  if (source->ptr == NULL || sink->ptr == NULL || source == sink) fail("a dependence of nothing");
  add(&count.pairs, 1);
}

static void change(enum kind kind, int which, ompt_scope_endpoint_t endpoint, ompt_data_t* task, const char* event) {
  struct thread* thread = here(event);
  check_task(thread, task, event);
  if (endpoint == ompt_scope_begin)
    push(thread, kind, which, thread->current);
  else
    pop(thread, kind, which, thread->current, event);
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                           ompt_data_t* task, const void* code) {
  (void)parallel, (void)code;
  change(SYNC, kind, endpoint, task, "sync_region");
}

static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                                ompt_data_t* task, const void* code) {
  (void)parallel, (void)code;
  change(WAIT, kind, endpoint, task, "sync_region_wait");
  if (get_state(NULL) < ompt_state_wait_barrier_implicit_parallel) fail("a wait in state %d", get_state(NULL));
}

static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
                         ompt_data_t* task, const void* code) {
  (void)parallel, (void)code;
  change(REDUCTION, kind, endpoint, task, "reduction");
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    uint64_t n, const void* code) {
  (void)parallel, (void)n;
  if (endpoint == ompt_scope_begin && code == NULL) fail("work %d from nowhere", kind);
  change(WORK, kind, endpoint, task, "work");
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, const void* code) {
  (void)parallel;
  if (code == NULL) fail("masked from nowhere");
  change(MASKED, 0, endpoint, task, "masked");
  add(&count.masked, 1);
}

static void on_dispatch(ompt_data_t* parallel, ompt_data_t* task, ompt_dispatch_t kind, ompt_data_t instance) {
  (void)parallel, (void)task;
  here("dispatch");
  if (kind == ompt_dispatch_ws_loop_chunk && ((ompt_dispatch_chunk_t*)instance.ptr)->iterations == 0)
    fail("a chunk of nothing");
  add(&count.chunks, 1);
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id, const void* code) {
  (void)kind, (void)hint, (void)impl, (void)code;
  here("mutex_acquire");
  if (id == 0) fail("a mutex without a name");
}
static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void* code) {
  (void)kind, (void)id, (void)code;
  here("mutex_acquired");
  add(&count.mutexes, 1);
}
static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t id, const void* code) {
  (void)kind, (void)id, (void)code;
  here("mutex_released");
  add(&count.mutexes, -1U);
}

static void on_cancel(ompt_data_t* task, int flags, const void* code) {
  (void)code;
  if (task->ptr == NULL || (flags & (ompt_cancel_activated | ompt_cancel_detected | ompt_cancel_discarded_task)) == 0)
    fail("a cancellation of nothing");
  add(&count.cancels, 1);
}

static void on_error(ompt_severity_t severity, const char* message, size_t length, const void* code) {
  if (severity != ompt_warning && severity != ompt_fatal) fail("an error of severity %d", severity);
  if (code == NULL) fail("an error from nowhere");
  if (length != (message != NULL ? strlen(message) : 0)) fail("an error with a message of %zu bytes", length);
}

static int on_control_tool(uint64_t command, uint64_t modifier, void* argument, const void* code) {
  (void)argument;
  if (code == NULL) fail("omp_control_tool from nowhere");
  return (int)(command * 100 + modifier);
}

static void must(ompt_set_result_t got, ompt_set_result_t wanted, int event) {
  if (got != wanted) fail("ompt_set_callback(%d) returns %d, not %d", event, got, wanted);
}

/* A child is told of its own threads and regions. */
static void forget_parent(void) { memset(&count, 0, sizeof count); }

static void run_own(void* unused) { (void)unused; }

static void create_own(void) {
  typedef void create(void (*)(void*), void*, void (*)(void*, void*), long, long, _Bool, unsigned, void**, int, void*);
  create* const task = (create*)dlsym(NULL, "GOMP_task");
  if (task == NULL) fail("no GOMP_task");
  task(run_own, NULL, NULL, 0, 1, 1, 0, NULL, 0, NULL);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* tool_data) {
  if (getenv("WITNESS_REFUSES") != NULL) return 0;
  if (tool_data->value != 17 || device < 0) fail("initialized with other data");
  if (getenv("WITNESS_CREATES") != NULL) create_own();
  if (lookup("ompt_no_such_entry_point") != NULL) fail("an entry point that does not exist");
  if (pthread_atfork(NULL, NULL, forget_parent) != 0) fail("no pthread_atfork");
  get_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
  get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  get_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
  get_state = (ompt_get_state_t)lookup("ompt_get_state");
  get_unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  ompt_get_callback_t get = (ompt_get_callback_t)lookup("ompt_get_callback");
#define REGISTER(name, result) must(set(ompt_callback_##name, (ompt_callback_t)on_##name), result, ompt_callback_##name)
  REGISTER(thread_begin, ompt_set_always);
  REGISTER(thread_end, ompt_set_always);
  REGISTER(parallel_begin, ompt_set_always);
  REGISTER(parallel_end, ompt_set_always);
  REGISTER(implicit_task, ompt_set_always);
  REGISTER(task_create, ompt_set_always);
  REGISTER(task_schedule, ompt_set_always);
  REGISTER(dependences, ompt_set_always);
  REGISTER(task_dependence, ompt_set_always);
  REGISTER(sync_region, ompt_set_always);
  REGISTER(sync_region_wait, ompt_set_always);
  REGISTER(reduction, ompt_set_sometimes_paired);
  REGISTER(work, ompt_set_sometimes_paired);
  REGISTER(masked, ompt_set_sometimes_paired);
  REGISTER(dispatch, ompt_set_sometimes);
  REGISTER(mutex_acquire, ompt_set_always);
  REGISTER(mutex_acquired, ompt_set_always);
  REGISTER(mutex_released, ompt_set_always);
  REGISTER(cancel, ompt_set_always);
  REGISTER(control_tool, ompt_set_always);
  REGISTER(error, ompt_set_sometimes);
  must(set(ompt_callback_target_emi, (ompt_callback_t)on_cancel), ompt_set_never, ompt_callback_target_emi);
  must(set((ompt_callbacks_t)99, (ompt_callback_t)on_cancel), ompt_set_error, 99);
  ompt_callback_t registered = NULL;
  if (get(ompt_callback_cancel, &registered) != 1 || registered != (ompt_callback_t)on_cancel)
    fail("ompt_get_callback gives another one");
  if (get(ompt_callback_flush, &registered) != 0) fail("ompt_get_callback gives one that is not there");
  return 1;
}

static void finalize(ompt_data_t* tool_data) {
  if (tool_data->value != 17) fail("finalized with other data");
  if (count.regions != count.ended_regions) fail("%u regions, %u ended", count.regions, count.ended_regions);
  if (count.created != count.completed) fail("%u tasks, %u ended", count.created, count.completed);
  if (count.threads < count.ended_threads) fail("%u threads, %u ended", count.threads, count.ended_threads);
  if (count.mutexes != 0) fail("%d mutexes held", (int)count.mutexes);
  const char* wanted = getenv("WITNESS_WANTS");
  if (wanted == NULL) wanted = "";
  if (strcmp(wanted, "masked") == 0 && count.masked == 0) fail("nothing was masked");
  if (strcmp(wanted, "doacross") == 0 && (count.sources == 0 || count.sinks == 0))
    fail("%u sources and %u sinks", count.sources, count.sinks);
  fprintf(stderr, "witness: threads %u regions %u members %u tasks %u pairs %u cancels %u\n", count.threads,
          count.regions, count.members, count.created, count.pairs, count.cancels);
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {initialize, finalize, {17}};
  if (version < 201811 || runtime == NULL) fail("started for version %u", version);
  return &result;
}
