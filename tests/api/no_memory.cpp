// What the C API does without memory: in each scenario the first, the second, ... request for memory or for a thread
// fails, alone or with all that follow it, until the scenario passes without. Then the call must have returned the
// error that the header names, and written nothing; or ended the process with the one line that it promises; or done
// without. The same call then succeeds, and nothing is lost: as many blocks are live as without a failure.
//
// Each attempt is a process of its own, so that no cache is warm but those that the scenario warms. Only the thread
// that calls is refused anything.
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <weft/io.h>
#include <weft/weft.h>

// ---------------------------------------------------------------- refusing

namespace {

thread_local bool armed = false;
thread_local bool sticky = false;
thread_local int left = 0;  // requests that are still granted
thread_local bool refused = false;
std::atomic<long> live{0};

bool refuse() {
  if (!armed || left-- > 0) return false;
  if (left < -1 && !sticky) return false;
  refused = true;
  errno = ENOMEM;
  return true;
}

void* granted(void* memory) {
  if (memory != nullptr) live.fetch_add(1);
  return memory;
}

using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
CreateThread create_thread = nullptr;

}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) { return refuse() ? nullptr : granted(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) { return refuse() ? nullptr : granted(__libc_calloc(count, size)); }
void* realloc(void* old, size_t size) {
  if (refuse()) return nullptr;
  void* memory = __libc_realloc(old, size);
  return old == nullptr ? granted(memory) : memory;
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (refuse()) return ENOMEM;
  *memory = granted(__libc_memalign(alignment, size));
  return *memory != nullptr ? 0 : ENOMEM;
}
void* aligned_alloc(size_t alignment, size_t size) {
  return refuse() ? nullptr : granted(__libc_memalign(alignment, size));
}
void free(void* memory) {
  if (memory != nullptr) live.fetch_sub(1);
  __libc_free(memory);
}
void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (refuse()) return MAP_FAILED;
  auto memory = reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
  if (memory != MAP_FAILED) live.fetch_add(1);
  return memory;
}
int munmap(void* address, size_t size) {
  live.fetch_sub(1);
  return static_cast<int>(syscall(SYS_munmap, address, size));
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*entry)(void*), void* argument) {
  return refuse() ? EAGAIN : create_thread(thread, attr, entry, argument);
}
}

namespace {

// ---------------------------------------------------------------- scenarios

#define CHECK(what) \
  if (!(what)) fail(#what, __LINE__)

[[noreturn]] void fail(const char* what, int line) {
  armed = false;
  std::fprintf(stderr, "no_memory.cpp:%d: %s\n", line, what);
  _exit(2);
}

struct Scenario {
  const char* name;
  void (*prepare)();  // may be nullptr
  int (*call)();      // what is refused memory
  void (*undo)();     // after a success
  int error = WEFT_ERR_MEMORY;
  const char* line = "";  // in what the process may say when it ends instead; "": it may not
  bool initialised = true;
  bool ends_for_good = false;  // it says the line only where all later requests are refused as well
  long kept = 0;               // blocks more than without a failure may be live, which are used the next time
};

weft_unit* const nobody = reinterpret_cast<weft_unit*>(16);
weft_unit* unit = nobody;
weft_unit* units[600];
weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
weft_pool* const no_pool = reinterpret_cast<weft_pool*>(16);
weft_pool* pool = no_pool;
weft_pool* other_pool = nullptr;
weft_scheduler* const no_scheduler = reinterpret_cast<weft_scheduler*>(16);
weft_scheduler* scheduler = no_scheduler;
weft_worker* const no_worker = reinterpret_cast<weft_worker*>(16);
weft_worker* worker = no_worker;
weft_key key;
std::atomic<int> ran{0};

void run(void*) { ran.fetch_add(1); }
void wait_once(void*) { weft_yield(); }

int create() {
  ran = 0;
  const int error = weft_unit_create(run, nullptr, &attr, &unit);
  if (error != WEFT_OK) CHECK(unit == nobody && ran == 0);
  return error;
}
void free_unit() {
  CHECK(weft_unit_free(unit) == WEFT_OK);
  CHECK(ran == 1);
  unit = nobody;
}
template <weft_technique technique>
void use_technique() {
  attr.technique = technique;
}

int create_detached() { return weft_unit_create(wait_once, nullptr, &attr, nullptr); }
void yield_some() {
  for (int i = 0; i < 10; ++i) weft_yield();
}

// More than one slab of descriptors.
int create_many() {
  for (weft_unit*& each : units) each = nobody;
  ran = 0;
  const int error = weft_unit_create_many(600, run, nullptr, &attr, units);
  if (error != WEFT_OK)
    for (weft_unit* each : units) CHECK(each == nobody);
  return error;
}
void free_many() {
  CHECK(weft_unit_free_many(600, units) == WEFT_OK);
  CHECK(ran == 600);
}

// A pool that this worker serves, with so many units in it that it must grow for the next.
template <weft_order order, weft_access access, int count>
void fill_pool() {
  CHECK(weft_pool_create(order, access, &pool) == WEFT_OK);
  CHECK(weft_scheduler_create(WEFT_BASIC, 1, &pool, &scheduler) == WEFT_OK);
  CHECK(weft_worker_set_scheduler(weft_worker_self(), scheduler) == WEFT_OK);
  attr.pool = pool;
  attr.technique = WEFT_STACKLESS;
  for (int i = 0; i < count; ++i) {
    attr.priority = i;
    CHECK(weft_unit_create(run, nullptr, &attr, &units[i]) == WEFT_OK);
  }
  attr.priority = -5;
}
template <int count>
void fill_own_pool() {
  attr.technique = WEFT_STACKLESS;
  for (int i = 0; i < count; ++i) CHECK(weft_unit_create(run, nullptr, &attr, &units[i]) == WEFT_OK);
}
// All of them run, in whatever order.
template <int count>
void free_all() {
  for (int i = 0; i < count; ++i) {
    if (units[i] == nullptr) continue;
    CHECK(weft_unit_free(units[i]) == WEFT_OK);
    units[i] = nullptr;
  }
  CHECK(weft_unit_free(unit) == WEFT_OK);
  unit = nobody;
}
int push_popped() {
  weft_unit* popped[65];
  size_t count = 0;
  CHECK(weft_pool_pop_many(pool, 65, popped, &count) == WEFT_OK && count > 0);
  const int error = weft_pool_push_many(pool, count, popped);
  CHECK(weft_pool_size(pool) >= count);
  return error;
}

// The newest of a full pool lets all others go first.
void fill_list_and_have_a_stack() {
  CHECK(weft_unit_create(run, nullptr, nullptr, &unit) == WEFT_OK && weft_unit_free(unit) == WEFT_OK);
  unit = nobody;
  fill_pool<WEFT_LIFO, WEFT_PRIV, 64>();
}
void yield_to_all(void*) {
  weft_yield();
  CHECK(weft_pool_size(pool) == 0);
}
int yield_in_full_pool() {
  attr.technique = WEFT_AUTO;
  const int error = weft_unit_create(yield_to_all, nullptr, &attr, &unit);
  if (error == WEFT_OK) CHECK(weft_unit_join(unit) == WEFT_OK);
  return error;
}

// A unit that is done is revived into a pool that is full.
void make_done_unit() {
  fill_own_pool<64>();
  CHECK(weft_unit_create(run, nullptr, &attr, &unit) == WEFT_OK);
  CHECK(weft_unit_join(unit) == WEFT_OK);
}
int revive() { return weft_unit_revive(unit, run, nullptr); }
void join() { CHECK(weft_unit_join(unit) == WEFT_OK); }

template <weft_technique technique>
void create_for_start() {
  attr.technique = technique;
  CHECK(weft_unit_create(wait_once, nullptr, &attr, &unit) == WEFT_OK);
}
int join_once() { return unit == nobody ? WEFT_OK : weft_unit_free(unit); }
void forget_unit() { unit = nobody; }

template <weft_order order, weft_access access>
int create_pool() {
  const int error = weft_pool_create(order, access, &pool);
  if (error != WEFT_OK) CHECK(pool == no_pool);
  return error;
}
void free_pool() {
  CHECK(weft_pool_free(pool) == WEFT_OK);
  pool = no_pool;
}
int create_custom_pool() {
  static const weft_pool_functions functions = {[](void*, weft_unit*) {}, [](void*) -> weft_unit* { return nullptr; },
                                                [](void*) -> size_t { return 0; }, nullptr};
  const int error = weft_pool_create_custom(&functions, nullptr, &pool);
  if (error != WEFT_OK) CHECK(pool == no_pool);
  return error;
}

void create_other_pool() { CHECK(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &other_pool) == WEFT_OK); }
int create_scheduler() {
  const int error = weft_scheduler_create(WEFT_BASIC_WAIT, 1, &other_pool, &scheduler);
  if (error != WEFT_OK) CHECK(scheduler == no_scheduler);
  return error;
}
int create_custom_scheduler() {
  const int error = weft_scheduler_create_custom([](weft_scheduler*, void*) {}, nullptr, 1, 1, &other_pool, &scheduler);
  if (error != WEFT_OK) CHECK(scheduler == no_scheduler);
  return error;
}
void free_scheduler() {
  CHECK(weft_scheduler_free(scheduler) == WEFT_OK);
  scheduler = no_scheduler;
}
void prepare_worker() {
  create_other_pool();
  CHECK(create_scheduler() == WEFT_OK);
}
int create_worker() {
  const int error = weft_worker_create(scheduler, &worker);
  if (error != WEFT_OK) CHECK(worker == no_worker);
  return error;
}
void join_worker() {
  CHECK(weft_worker_join(worker) == WEFT_OK);
  worker = no_worker;
}
// Pushed into a pool that nobody serves: the error leaves the scheduler free.
int push_scheduler() {
  const int error = weft_scheduler_push(other_pool, scheduler);
  if (error != WEFT_OK) {
    armed = false;
    CHECK(weft_pool_size(other_pool) == 0);
    CHECK(weft_scheduler_free(scheduler) == WEFT_OK && create_scheduler() == WEFT_OK);
  }
  return error;
}
void prepare_push_scheduler() {
  CHECK(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool) == WEFT_OK);
  prepare_worker();
  CHECK(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &other_pool) == WEFT_OK);
}
void run_pushed() {
  weft_unit* pushed = nullptr;
  CHECK(weft_pool_pop(other_pool, &pushed) == WEFT_OK);
  CHECK(weft_unit_run(pushed) == WEFT_OK);
}

void create_key() { CHECK(weft_key_create(nullptr, &key) == WEFT_OK); }
int set_key() {
  const int error = weft_key_set(key, &key);
  if (error != WEFT_OK) {
    void* value = &ran;
    CHECK(weft_key_get(key, &value) == WEFT_OK && value == nullptr);
  }
  return error;
}
void unset_key() { CHECK(weft_key_set(key, nullptr) == WEFT_OK); }
bool arms = false;
int error_of_unit = 0;
void set_key_in_unit(void*) {
  armed = arms;
  error_of_unit = set_key();
  armed = false;
}
void prepare_key_of_unit() {
  create_key();
  fill_pool<WEFT_FIFO, WEFT_MPMC, 0>();
}
// The unit runs in the caller's pool, so on this thread.
int set_key_of_unit() {
  arms = armed;
  armed = false;
  CHECK(weft_unit_create(set_key_in_unit, nullptr, &attr, &unit) == WEFT_OK);
  CHECK(weft_unit_free(unit) == WEFT_OK);
  return error_of_unit;
}

int select_of_many() {
  static weft_flag flags[12];
  weft_event events[12];
  for (int i = 0; i < 12; ++i) events[i] = weft_event{WEFT_EVENT_FLAG, &flags[i]};
  weft_flag_set(&flags[11]);
  size_t which = 77;
  const int error = weft_select(12, events, 0, &which);
  CHECK(which == (error == WEFT_OK ? 11U : 77U));
  return error;
}
int timed_wait() {
  weft_flag flag = WEFT_FLAG_INIT;
  const int error = weft_flag_timed_wait(&flag, 1000);
  return error == WEFT_ERR_TIMEOUT ? WEFT_OK : error;
}
int sleep_a_little() { return weft_sleep(1000); }
int init() { return weft_init(); }
void finalize() { CHECK(weft_finalize() == WEFT_OK); }
void nothing() {}

int own_tls() {
  attr.technique = WEFT_FULL;
  attr.flags = WEFT_OWN_TLS;
  weft_unit* made = nullptr;
  const int error = weft_unit_create(wait_once, nullptr, &attr, &made);
  if (error != WEFT_OK) return error;
  CHECK(weft_unit_free(made) == WEFT_OK);
  return WEFT_OK;
}

// ---- packing, blocking calls, files

constexpr std::size_t packed = 3;
weft_pool* packed_pools[packed];
weft_scheduler* const no_schedulers[packed] = {no_scheduler, no_scheduler, no_scheduler};
weft_packing* const no_packing = reinterpret_cast<weft_packing*>(16);
weft_packing* packing = no_packing;
void create_packed_pools() {
  for (weft_pool*& each : packed_pools) CHECK(weft_pool_create(WEFT_FIFO, WEFT_MPMC, &each) == WEFT_OK);
}
int create_packing() {
  weft_scheduler* schedulers[packed];
  std::copy(no_schedulers, no_schedulers + packed, schedulers);
  packing = no_packing;
  const int error = weft_packing_create(packed, packed_pools, schedulers, &packing);
  CHECK(error == WEFT_OK || (packing == no_packing && std::equal(schedulers, schedulers + packed, no_schedulers)));
  if (error != WEFT_OK) return error;
  for (weft_scheduler* made : schedulers) CHECK(weft_scheduler_free(made) == WEFT_OK);
  return WEFT_OK;
}
void free_packing() { CHECK(weft_packing_free(packing) == WEFT_OK); }

void prepare_blocking() {
  fill_pool<WEFT_FIFO, WEFT_MPMC, 0>();
  attr.technique = WEFT_FULL;
}
void call_blocking(void*) {
  armed = arms;
  error_of_unit = weft_blocking(run, nullptr);
  armed = false;
}
// The unit runs on this thread, which lends what it carries to another.
int blocking_call() {
  arms = armed;
  armed = false;
  const int before = ran.load();
  CHECK(weft_unit_create(call_blocking, nullptr, &attr, &unit) == WEFT_OK);
  CHECK(weft_unit_free(unit) == WEFT_OK);
  CHECK(ran.load() == before + 1);
  return error_of_unit;
}

int pipe_ends[2];
void open_pipe() { CHECK(pipe(pipe_ends) == 0); }
int poll_many() {
  pollfd files[100];
  for (pollfd& file : files) file = pollfd{pipe_ends[0], POLLIN, 0};
  std::size_t found = 77;
  const int error = weft_poll(files, 100, 1000, &found);
  CHECK(found == 77U);
  if (error == WEFT_ERR_LIMIT) return WEFT_ERR_MEMORY;  // no thread that waits: it promises both
  return error == WEFT_ERR_TIMEOUT ? WEFT_OK : error;
}
int timed_read() {
  char byte;
  std::size_t length = 77;
  const int error = weft_timed_read(pipe_ends[0], &byte, 1, 1000, &length);
  return error == WEFT_ERR_TIMEOUT ? WEFT_OK : error;
}

constexpr const char* no_stack = "no memory for a stack";

const Scenario scenarios[] = {
    {"init", nullptr, init, finalize, WEFT_ERR_MEMORY, "", false},
    {"create auto", use_technique<WEFT_AUTO>, create, free_unit},
    {"create stackless", use_technique<WEFT_STACKLESS>, create, free_unit},
    {"create full", use_technique<WEFT_FULL>, create, free_unit},
    {"create full-l", use_technique<WEFT_FULL_L>, create, free_unit},
    {"create roc", use_technique<WEFT_ROC>, create, free_unit},
    {"create roc-l", use_technique<WEFT_ROC_L>, create, free_unit},
    {"create ss", use_technique<WEFT_SS>, create, free_unit},
    {"create ss-l", use_technique<WEFT_SS_L>, create, free_unit},
    {"create sc", use_technique<WEFT_SC>, create, free_unit},
    {"create c-full", use_technique<WEFT_C_FULL>, create, free_unit},
    {"create c-full-e", use_technique<WEFT_C_FULL_E>, create, free_unit},
    {"create c-roc", use_technique<WEFT_C_ROC>, create, free_unit},
    {"create c-roc-e", use_technique<WEFT_C_ROC_E>, create, free_unit},
    {"create detached", use_technique<WEFT_FULL>, create_detached, yield_some},
    {"create many stackless", use_technique<WEFT_STACKLESS>, create_many, free_many},
    {"create many full", use_technique<WEFT_FULL>, create_many, free_many},
    {"create with own thread-local storage", nullptr, own_tls, nothing},
    {"create beyond the own deque", fill_own_pool<64>, create, free_all<64>},
    {"create into fifo priv", fill_pool<WEFT_FIFO, WEFT_PRIV, 64>, create, free_all<64>},
    {"create into lifo priv", fill_pool<WEFT_LIFO, WEFT_PRIV, 64>, create, free_all<64>},
    {"create into fifo spsc", fill_pool<WEFT_FIFO, WEFT_SPSC, 0>, create, free_unit},
    {"create into fifo spmc", fill_pool<WEFT_FIFO, WEFT_SPMC, 64>, create, free_all<64>},
    {"create into fifo mpmc", fill_pool<WEFT_FIFO, WEFT_MPMC, 0>, create, free_unit},
    {"create into deque priv", fill_pool<WEFT_DEQUE, WEFT_PRIV, 64>, create, free_all<64>},
    {"create into deque spmc", fill_pool<WEFT_DEQUE, WEFT_SPMC, 64>, create, free_all<64>},
    {"create into deque mpmc", fill_pool<WEFT_DEQUE, WEFT_MPMC, 64>, create, free_all<64>},
    {"create into priority priv", fill_pool<WEFT_PRIORITY, WEFT_PRIV, 1>, create, free_all<1>},
    {"create into priority mpmc", fill_pool<WEFT_PRIORITY, WEFT_MPMC, 17>, create, free_all<17>},
    {"push many", fill_pool<WEFT_FIFO, WEFT_SPMC, 64>, push_popped, nothing},
    {"yield in lifo priv", fill_list_and_have_a_stack, yield_in_full_pool, free_all<64>, WEFT_ERR_MEMORY, no_stack},
    {"revive", make_done_unit, revive, join},
    {"start roc-l", create_for_start<WEFT_ROC_L>, join_once, forget_unit, WEFT_OK, no_stack},
    {"start full-l", create_for_start<WEFT_FULL_L>, join_once, forget_unit, WEFT_OK, no_stack},
    {"start ss-l", create_for_start<WEFT_SS_L>, join_once, forget_unit, WEFT_OK, no_stack},
    {"start sc", create_for_start<WEFT_SC>, join_once, forget_unit, WEFT_OK, no_stack},
    {"start stackless", create_for_start<WEFT_STACKLESS>, join_once, forget_unit, WEFT_OK},
    {"pool fifo spsc", nullptr, create_pool<WEFT_FIFO, WEFT_SPSC>, free_pool},
    {"pool fifo mpmc", nullptr, create_pool<WEFT_FIFO, WEFT_MPMC>, free_pool},
    {"pool lifo priv", nullptr, create_pool<WEFT_LIFO, WEFT_PRIV>, free_pool},
    {"pool priority mpsc", nullptr, create_pool<WEFT_PRIORITY, WEFT_MPSC>, free_pool},
    {"pool deque mpmc", nullptr, create_pool<WEFT_DEQUE, WEFT_MPMC>, free_pool},
    {"pool of the user's own", nullptr, create_custom_pool, free_pool},
    {"scheduler", create_other_pool, create_scheduler, free_scheduler},
    {"scheduler of the user's own", create_other_pool, create_custom_scheduler, free_scheduler},
    {"scheduler in a pool", prepare_push_scheduler, push_scheduler, run_pushed},
    {"worker", prepare_worker, create_worker, join_worker, WEFT_ERR_LIMIT},
    {"key of a root", create_key, set_key, unset_key},
    {"key of a unit", prepare_key_of_unit, set_key_of_unit, nothing},
    {"select", nullptr, select_of_many, nothing},
    {"timed wait", nullptr, timed_wait, nothing, WEFT_ERR_LIMIT},
    {"sleep", nullptr, sleep_a_little, nothing, WEFT_ERR_LIMIT},
    {"packing", create_packed_pools, create_packing, free_packing},
    {"blocking call", prepare_blocking, blocking_call, nothing, WEFT_OK, no_stack, true, true, 4},
    {"poll", open_pipe, poll_many, nothing},
    {"timed read", open_pipe, timed_read, nothing, WEFT_ERR_LIMIT},
};

// ---------------------------------------------------------------- attempts

struct Report {
  bool refused;
  int error;
  bool ended;  // as intended
  long live;
};
Report* report;  // shared with the attempts

int threads_now() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != nullptr);
  while (readdir(tasks) != nullptr) ++count;
  closedir(tasks);
  return count;
}

// A worker that was joined has ended for weft; its thread goes on for a moment, and the C library frees what it had.
void wait_for_threads_to_end(int threads_before) {
  for (int round = 0; round < 1000 && threads_now() > threads_before; ++round) usleep(1000);
}

// Bug: a thread that was started without memory for what it is to have blocked had open what its starter had.
bool others_have_blocked(int signal) {
  bool all = true;
  DIR* tasks = opendir("/proc/self/task");
  CHECK(tasks != nullptr);
  while (const dirent* task = readdir(tasks)) {
    const int thread = std::atoi(task->d_name);
    if (thread == 0 || thread == getpid()) continue;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    std::FILE* status = std::fopen(path, "r");
    if (status == nullptr) continue;  // it has ended
    char line[256];
    unsigned long long blocked = 0;
    while (std::fgets(line, sizeof line, status) != nullptr)
      if (std::sscanf(line, "SigBlk: %llx", &blocked) == 1) all = all && (blocked >> (signal - 1) & 1) != 0;
    std::fclose(status);
  }
  closedir(tasks);
  return all;
}

[[noreturn]] void attempt(const Scenario& scenario, int granted_requests, bool all_after) {
  alarm(100);
  if (scenario.initialised) CHECK(weft_init() == WEFT_OK);
  if (scenario.prepare != nullptr) scenario.prepare();
  const bool ends_threads = std::strcmp(scenario.name, "worker") == 0;
  const int threads_before = ends_threads ? threads_now() : 0;
  left = granted_requests;
  sticky = all_after;
  armed = true;
  const int error = scenario.call();
  armed = false;
  CHECK(others_have_blocked(SIGTERM));
  report->refused = refused;
  report->error = error;
  if (error == WEFT_OK)
    scenario.undo();
  else
    CHECK(refused && error == scenario.error);
  left = 1 << 30;
  CHECK(scenario.call() == WEFT_OK);
  scenario.undo();
  if (ends_threads) wait_for_threads_to_end(threads_before);
  report->live = live.load();
  if (scenario.initialised) CHECK(weft_finalize() == WEFT_OK);
  report->ended = true;
  _exit(0);
}

int problems = 0;

void complain(const Scenario& scenario, int request, bool all_after, const char* what, const char* said) {
  std::printf("%s, request %d%s refused: %s%s%s\n", scenario.name, request + 1, all_after ? " and all after it" : "",
              what, *said != '\0' ? ": " : "", said);
  ++problems;
}

// How many lines of weft's it is; -1: something else is among them.
int lines_of_weft(const char* said) {
  int lines = 0;
  for (; *said != '\0'; ++lines) {
    const char* end = std::strchr(said, '\n');
    if (std::strncmp(said, "weft: ", 6) != 0 || end == nullptr) return -1;
    said = end + 1;
  }
  return lines;
}

// False: nothing was refused any more. What is lost is lost each time: where threads end, what they have left is
// counted or not as it happens.
bool try_once(const Scenario& scenario, int request, bool all_after, long live_without, int more_tries = 20) {
  *report = Report{};
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    attempt(scenario, request, all_after);
  }
  close(ends[1]);
  char said[4096];
  std::size_t length = 0;
  for (ssize_t got; length < sizeof said - 1 && (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
    length += static_cast<std::size_t>(got);
  said[length] = '\0';
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const bool by_panic = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE;
  const bool as_promised =
      *scenario.line != '\0' && std::strstr(said, scenario.line) != nullptr && (all_after || !scenario.ends_for_good);
  // With other workers about, it may have said before that they are fewer.
  if (by_panic && as_promised && lines_of_weft(said) >= 1 && (live_without < 0 || lines_of_weft(said) == 1))
    return true;
  if (!report->ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    complain(scenario, request, all_after, "it ends", said);
  else if (lines_of_weft(said) < 0)
    complain(scenario, request, all_after, "it says what weft does not", said);
  else if (live_without >= 0 && report->live > live_without + scenario.kept && more_tries > 0)
    return try_once(scenario, request, all_after, live_without, more_tries - 1);
  else if (live_without >= 0 && report->live > live_without + scenario.kept)
    complain(scenario, request, all_after, "memory is lost", said);
  return report->ended && report->refused;
}

}  // namespace

int main() {
  create_thread = reinterpret_cast<CreateThread>(dlsym(RTLD_NEXT, "pthread_create"));
  report =
      static_cast<Report*>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const bool alone = std::getenv("WEFT_NUM_WORKERS") != nullptr && std::atoi(std::getenv("WEFT_NUM_WORKERS")) == 1;
  int attempts = 0;
  for (const Scenario& scenario : scenarios) {
    constexpr int never = 1 << 30;
    // With other workers about, what they allocate depends on when they look. Alone, a worker that has just been made
    // and joined leaves one or two blocks more or less behind, with nothing refused: so it is done a few times.
    long live_without = -1;
    for (int round = 0; round < 5; ++round) {
      try_once(scenario, never, false, -1);
      if (alone && report->live > live_without + scenario.kept) live_without = report->live;
    }
    for (const bool all_after : {false, true}) {
      int request = 0;
      while (request < 1000 && try_once(scenario, request, all_after, live_without)) ++request;
      attempts += request;
    }
  }
  std::printf("%d requests refused, %d problems\n", attempts, problems);
  return problems != 0 || attempts < 100 ? 1 : 0;
}
