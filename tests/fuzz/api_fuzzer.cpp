// Sequences of calls of the C API, decoded from bytes: with libFuzzer's engine, or with a generator of its own
// (WEFT_FUZZ_RANDOM: main() below).
//
// Only what the headers allow is called. A model says what must come of it: each unit runs once per start, values
// arrive, errors are those that are documented, objects that nobody uses can be destroyed. Nothing waits for ever: a
// unit that suspends is resumed by finish(), all else that waits has a time limit or somebody who must come by.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <weft/weft.h>

namespace {

#define MUST(what)                        \
  do {                                    \
    if (!(what)) broken(#what, __LINE__); \
  } while (false)

[[noreturn]] void broken(const char* what, int line) {
  std::fprintf(stderr, "api_fuzzer.cpp:%d: %s does not hold\n", line, what);
  std::abort();
}

/// The bytes that are left; 0 when there are none.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  unsigned next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  unsigned below(unsigned limit) { return next() % limit; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// ---------------------------------------------------------------- what units share

struct Guarded {
  weft_mutex mutex;
  unsigned kind = 0;
  long value = 0;  // under the mutex
  std::atomic<long> changes{0};
};

struct Shared {
  Guarded guarded[4];
  weft_rwlock rwlock = WEFT_RWLOCK_INIT;
  long twins[2] = {0, 0};  // under the lock
  weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(2);
  std::atomic<long> permits{2};  // taken and given: the model's count
  weft_latch latch = WEFT_LATCH_INIT(3);
  std::atomic<unsigned> latched{3};
  weft_eventual eventual = WEFT_EVENTUAL_INIT;
  std::atomic<void*> set_by{nullptr};
  weft_future future;
  void* values[3] = {};
  std::atomic<int> future_sets{0};
  std::atomic<int> future_calls{0};
  weft_flag flag = WEFT_FLAG_INIT;
  weft_key key{};
  std::atomic<long> key_values{0};  // set and not yet destroyed
};
Shared* shared = nullptr;

void destroy_value(void* value) { static_cast<std::atomic<long>*>(value)->fetch_sub(1); }

// ---------------------------------------------------------------- pools with workers

struct Place {
  weft_pool* pool = nullptr;
  weft_scheduler* scheduler = nullptr;
  weft_worker* worker = nullptr;  // nullptr: the root itself serves it
  weft_access access = WEFT_MPMC;
};

void run_own(weft_scheduler* scheduler, void*) {
  while (weft_scheduler_stops(scheduler) == 0) {
    weft_pool* pool = nullptr;
    weft_unit* unit = nullptr;
    MUST(weft_scheduler_pool(scheduler, 0, &pool) == WEFT_OK);
    if (weft_pool_pop_wait(pool, 100000, &unit) == WEFT_OK) MUST(weft_unit_run(unit) == WEFT_OK);
  }
}

// ---------------------------------------------------------------- units

struct Job {
  std::atomic<weft_unit*> unit{nullptr};  // its creator learns it when the job may run already
  weft_technique technique = WEFT_AUTO;
  const Place* place = nullptr;
  bool detached = false;
  bool exact = true;  // nobody has cancelled it: it runs to its end as often as it is started
  int expected = 0;
  std::uint8_t script[8] = {};
  std::atomic<int> starts{0};
  std::atomic<int> ends{0};
  std::vector<char> stack;
};

bool waits(const Job& job) { return job.technique != WEFT_STACKLESS; }

// An operation that may have to wait: with a stackless unit it may say so instead, and has not been done.
bool done_or_stackless(const Job& job, int error) {
  if (error == WEFT_OK) return true;
  MUST(error == WEFT_ERR_STACKLESS && !waits(job));
  return false;
}

void use_guarded(const Job& job, Guarded& guarded, bool timed) {
  const int error = timed ? weft_mutex_timed_lock(&guarded.mutex, 20000) : weft_mutex_lock(&guarded.mutex);
  if (timed && error == WEFT_ERR_TIMEOUT) return;
  if (!done_or_stackless(job, error)) return;
  const long before = guarded.value;
  if ((guarded.kind & WEFT_MUTEX_RECURSIVE) != 0) MUST(weft_mutex_lock(&guarded.mutex) == WEFT_OK);
  if (waits(job)) MUST(weft_sleep(job.script[0] % 2 * 1000U) == WEFT_OK);
  guarded.value = before + 1;
  guarded.changes.fetch_add(1);
  if ((guarded.kind & WEFT_MUTEX_RECURSIVE) != 0) MUST(weft_mutex_unlock(&guarded.mutex) == WEFT_OK);
  MUST(weft_mutex_unlock(&guarded.mutex) == WEFT_OK);
}

void use_rwlock(const Job& job, bool write) {
  const int error = write ? weft_rwlock_write_lock(&shared->rwlock) : weft_rwlock_read_lock(&shared->rwlock);
  if (!done_or_stackless(job, error)) return;
  MUST(shared->twins[0] == shared->twins[1]);
  if (write) ++shared->twins[0];
  if (waits(job)) MUST(weft_sleep(0) == WEFT_OK);
  if (write) ++shared->twins[1];
  MUST(shared->twins[0] == shared->twins[1]);
  MUST(weft_rwlock_unlock(&shared->rwlock) == WEFT_OK);
}

void use_semaphore(const Job& job, bool gives) {
  if (gives) {
    shared->permits.fetch_add(1);
    MUST(weft_semaphore_release(&shared->semaphore, 1) == WEFT_OK);
    return;
  }
  const int error = weft_semaphore_timed_acquire(&shared->semaphore, 20000);
  if (error == WEFT_OK) shared->permits.fetch_sub(1);
  MUST(error == WEFT_OK || error == WEFT_ERR_TIMEOUT || (error == WEFT_ERR_STACKLESS && !waits(job)));
}

void use_once(Job& job) {
  if (weft_eventual_set(&shared->eventual, &job, 0) == WEFT_OK) {
    void* nobody = nullptr;
    MUST(shared->set_by.compare_exchange_strong(nobody, &job));
  }
  void* value = nullptr;
  MUST(weft_eventual_wait(&shared->eventual, &value, nullptr) == WEFT_OK || !waits(job));
  if (weft_eventual_test(&shared->eventual, &value, nullptr) == WEFT_OK)
    while (shared->set_by.load() == nullptr) sched_yield();
  const int error = weft_future_set(&shared->future, &job);
  if (error == WEFT_OK) shared->future_sets.fetch_add(1);
  MUST(error == WEFT_OK || error == WEFT_ERR_STATE);
  unsigned before = shared->latched.load();
  while (before != 0 && !shared->latched.compare_exchange_weak(before, before - 1)) {
  }
  if (before != 0) MUST(weft_latch_count_down(&shared->latch, 1) == WEFT_OK);
}

void use_key() {
  void* value = &value;
  MUST(weft_key_get(shared->key, &value) == WEFT_OK);
  if (value != nullptr) return;
  shared->key_values.fetch_add(1);
  MUST(weft_key_set(shared->key, &shared->key_values) == WEFT_OK);
  MUST(weft_key_get(shared->key, &value) == WEFT_OK && value == &shared->key_values);
}

void count_child(void* counter) {
  weft_yield();
  static_cast<std::atomic<int>*>(counter)->fetch_add(1);
}

void make_child(const Job& job, unsigned byte) {
  if (job.place != nullptr && job.place->access == WEFT_SPSC) return;  // it is not the producer
  auto counter = new std::atomic<int>(0);
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = static_cast<weft_technique>(byte % 13);
  weft_unit* child = nullptr;
  MUST(weft_unit_create(count_child, counter, &attr, &child) == WEFT_OK);
  const int error = weft_unit_free(child);
  if (error == WEFT_OK) {
    MUST(counter->load() == 1);
    delete counter;
    return;
  }
  MUST(error == WEFT_ERR_STACKLESS && !waits(job));
  static auto& abandoned = *new std::vector<std::atomic<int>*>;  // a stackless unit cannot tell when its child is done
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  abandoned.push_back(counter);
  pthread_mutex_unlock(&mutex);
  MUST(weft_unit_detach(child) == WEFT_OK);
}

void step(Job& job, unsigned byte) {
  const unsigned detail = byte / 16;
  switch (byte % 16) {
    case 0:
      break;
    case 1:
      MUST(weft_yield() == (waits(job) ? WEFT_OK : WEFT_ERR_STACKLESS));
      break;
    case 2:
      if (!job.detached) MUST(weft_suspend() == (waits(job) ? WEFT_OK : WEFT_ERR_STACKLESS));
      break;
    case 3:
      MUST(weft_sleep(detail * 1000) == (waits(job) ? WEFT_OK : WEFT_ERR_STACKLESS));
      break;
    case 4:
    case 5:
      use_guarded(job, shared->guarded[detail % 4], byte % 16 == 5);
      break;
    case 6:
      use_rwlock(job, detail % 2 != 0);
      break;
    case 7:
      use_semaphore(job, detail % 2 != 0);
      break;
    case 8:
      use_once(job);
      break;
    case 9:
      use_key();
      break;
    case 10:
    case 11:
      make_child(job, byte);
      break;
    case 12:
      weft_cancel_point();
      break;
    case 13: {
      const weft_unit* known = job.unit;  // read once: its creator may be writing it
      const bool is_it = known == nullptr || weft_unit_self() == known;
      MUST(is_it || job.detached || job.technique >= WEFT_C_FULL);
      MUST(weft_finalize() == WEFT_ERR_STATE);
      break;
    }
    case 14: {
      const int error = weft_flag_timed_wait(&shared->flag, detail * 500);
      MUST(error == WEFT_OK || error == WEFT_ERR_TIMEOUT || (error == WEFT_ERR_STACKLESS && !waits(job)));
      break;
    }
    case 15: {
      weft_event events[2] = {{WEFT_EVENT_FLAG, &shared->flag}, {WEFT_EVENT_LATCH, &shared->latch}};
      size_t which = 9;
      const int error = weft_select(2, events, detail * 500, &which);
      MUST(error == WEFT_OK ? which < 2 : which == 9);
      MUST(error == WEFT_OK || error == WEFT_ERR_TIMEOUT || (error == WEFT_ERR_STACKLESS && !waits(job)));
      break;
    }
    default:
      break;
  }
}

void run_job(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  job.starts.fetch_add(1);
  for (const std::uint8_t byte : job.script) step(job, byte);
  const bool exits = waits(job) && job.script[7] % 8 == 3;
  job.ends.fetch_add(1);
  if (exits) weft_unit_exit();
}

// ---------------------------------------------------------------- the sequence

class Sequence {
 public:
  explicit Sequence(Bytes bytes) : bytes_(bytes) {}
  void run();

 private:
  static constexpr unsigned most_jobs = 12;
  static constexpr unsigned most_places = 3;

  void operation();
  void create(bool detached);
  void create_many();
  void create_wrong();
  void finish(Job& job);
  void revive(Job& job);
  void free_job(unsigned index);
  void open_place();
  void close_places();
  void use_root();
  void wrong_arguments();
  void team();
  void begin();
  void end();

  Job* any_job() { return jobs_.empty() ? nullptr : jobs_[bytes_.below(static_cast<unsigned>(jobs_.size()))]; }
  void fill(Job& job);
  weft_unit_attr attributes(const Job& job) const;

  Bytes bytes_;
  std::vector<Job*> jobs_;
  std::vector<Job*> detached_;
  std::vector<Place*> places_;
};

void Sequence::fill(Job& job) {
  job.technique = static_cast<weft_technique>(bytes_.below(13));
  const unsigned where = bytes_.below(most_places + 1);
  if (where < places_.size()) job.place = places_[where];
  for (std::uint8_t& byte : job.script) byte = static_cast<std::uint8_t>(bytes_.next());
}

weft_unit_attr Sequence::attributes(const Job& job) const {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = job.technique;
  attr.priority = job.script[1] % 5 - 2;
  if (job.place != nullptr) attr.pool = job.place->pool;
  return attr;
}

void Sequence::create(bool detached) {
  if (jobs_.size() >= most_jobs || detached_.size() >= most_jobs) return;
  auto job = new Job;
  fill(*job);
  job->detached = detached;
  job->expected = 1;
  weft_unit_attr attr = attributes(*job);
  if (!detached && job->technique != WEFT_SC && job->script[2] % 4 == 1) {
    job->stack.resize(128UL << 10U);
    attr.stack = job->stack.data();
    attr.stack_size = job->stack.size();
  }
  weft_unit* unit = nullptr;
  MUST(weft_unit_create(run_job, job, &attr, detached ? nullptr : &unit) == WEFT_OK);
  job->unit = unit;
  (detached ? detached_ : jobs_).push_back(job);
}

void Sequence::create_many() {
  if (jobs_.size() + 3 > most_jobs) return;
  // One list of arguments: they differ in nothing but the job.
  Job* made[3];
  void* arguments[3];
  weft_unit* units[3] = {};
  Job pattern;
  fill(pattern);
  for (int i = 0; i < 3; ++i) {
    made[i] = new Job;
    made[i]->technique = pattern.technique;
    made[i]->place = pattern.place;
    std::memcpy(made[i]->script, pattern.script, sizeof pattern.script);
    made[i]->expected = 1;
    arguments[i] = made[i];
  }
  const weft_unit_attr attr = attributes(pattern);
  const int error = weft_unit_create_many(3, run_job, arguments, &attr, units);
  if (pattern.technique >= WEFT_C_FULL) {
    MUST(error == WEFT_ERR_ARGUMENT && units[0] == nullptr);
    for (Job* job : made) delete job;
    return;
  }
  MUST(error == WEFT_OK);
  for (int i = 0; i < 3; ++i) {
    made[i]->unit = units[i];
    jobs_.push_back(made[i]);
  }
}

void Sequence::create_wrong() {
  weft_unit* unit = nullptr;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  static char small[64];
  int expected = WEFT_ERR_ARGUMENT;
  switch (bytes_.below(5)) {
    case 0:
      attr.technique = static_cast<weft_technique>(13 + bytes_.below(3));
      break;
    case 1:
      attr.flags = 4U << bytes_.below(20);
      break;
    case 2:
      attr.technique = WEFT_STACKLESS;
      attr.flags = WEFT_MAY_BLOCK;
      expected = WEFT_ERR_STACKLESS;
      break;
    case 3:
      attr.stack = small;
      attr.stack_size = bytes_.below(sizeof small);
      break;
    default:
      attr.technique = WEFT_SC;
      attr.stack_size = 65536;
      break;
  }
  MUST(weft_unit_create(run_job, nullptr, &attr, &unit) == expected && unit == nullptr);
}

// Resumed as often as it suspends.
void Sequence::finish(Job& job) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (weft_unit_state(job.unit) != WEFT_DONE) {
    const int error = weft_resume(job.unit);
    MUST(error == WEFT_OK || error == WEFT_ERR_STATE);
    weft_yield();
    MUST(std::chrono::steady_clock::now() < limit);
  }
  MUST(weft_unit_join(job.unit) == WEFT_OK);
  if (!job.exact) return;
  MUST(job.starts.load() == job.expected && job.ends.load() == job.expected);
  weft_unit_statistics statistics{};
  MUST(weft_unit_get_statistics(job.unit, &statistics) == WEFT_OK);
  MUST(statistics.starts == static_cast<std::uint64_t>(job.expected));
}

void Sequence::revive(Job& job) {
  finish(job);
  ++job.expected;
  MUST(weft_unit_revive(job.unit, nullptr, &job) == WEFT_ERR_ARGUMENT);
  MUST(weft_unit_revive(job.unit, run_job, &job) == WEFT_OK);
}

void Sequence::free_job(unsigned index) {
  finish(*jobs_[index]);
  MUST(weft_unit_free(jobs_[index]->unit) == WEFT_OK);
  delete jobs_[index];
  jobs_.erase(jobs_.begin() + index);
}

void Sequence::open_place() {
  if (places_.size() >= most_places) return;
  const auto order = static_cast<weft_order>(bytes_.below(5));
  const auto access = static_cast<weft_access>(bytes_.below(6));
  weft_pool* pool = nullptr;
  const bool valid = order <= WEFT_DEQUE && access <= WEFT_MPMC &&
                     (order != WEFT_DEQUE || (access != WEFT_SPSC && access != WEFT_MPSC));
  const int error = weft_pool_create(order, access, &pool);
  MUST(error == (valid ? WEFT_OK : WEFT_ERR_ARGUMENT));
  if (!valid) return;
  // The root pushes, another worker pops: not for pools of one worker, nor for a deque of which the root were the
  // owner.
  if (access == WEFT_PRIV || access == WEFT_SPMC || weft_pool_size(pool) != 0) {
    MUST(weft_pool_free(pool) == WEFT_OK);
    return;
  }
  auto place = new Place;
  place->pool = pool;
  place->access = access;
  const unsigned kind = bytes_.below(6);
  if (kind <= WEFT_RANDOM_WS)
    MUST(weft_scheduler_create(static_cast<weft_scheduler_kind>(kind), 1, &pool, &place->scheduler) == WEFT_OK);
  else
    MUST(weft_scheduler_create_custom(run_own, nullptr, 1, 1, &pool, &place->scheduler) == WEFT_OK);
  MUST(weft_worker_create(place->scheduler, &place->worker) == WEFT_OK);
  MUST(weft_scheduler_free(place->scheduler) == WEFT_ERR_STATE);
  places_.push_back(place);
}

void Sequence::close_places() {
  for (Job* job : jobs_) finish(*job);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (Job* job : detached_)
    while (job->ends.load() != 1) {
      weft_yield();
      MUST(std::chrono::steady_clock::now() < limit);
    }
  // A detached unit's values are destroyed after its function has returned; nobody can join it.
  while (shared->key_values.load() != 0) {
    weft_yield();
    MUST(std::chrono::steady_clock::now() < limit);
  }
  // Those that are revived from now on stay away from what is closed.
  for (Job* job : jobs_) {
    if (job->place == nullptr) continue;
    job->place = nullptr;
    MUST(weft_unit_migrate(job->unit, nullptr) == WEFT_OK);
  }
  for (Place* place : places_) {
    MUST(weft_worker_join(place->worker) == WEFT_OK);
    MUST(weft_scheduler_free(place->scheduler) == WEFT_OK);
    MUST(weft_pool_free(place->pool) == WEFT_OK);
    delete place;
  }
  places_.clear();
}

// The root does what units do.
void Sequence::use_root() {
  Job root;
  root.technique = WEFT_FULL;
  root.detached = true;
  const unsigned byte = bytes_.next();
  const unsigned kind = byte % 16;
  if (kind == 2) MUST(weft_suspend() == WEFT_ERR_STATE);
  if (kind == 9 || kind == 13) {  // its values would stay
    MUST(weft_unit_self() == nullptr);
    return;
  }
  if (kind == 8) {  // the job would be gone when others read the value
    (void)weft_eventual_test(&shared->eventual, nullptr, nullptr);
    return;
  }
  step(root, byte);
}

void Sequence::wrong_arguments() {
  size_t which = 5;
  weft_event event = {static_cast<weft_event_kind>(WEFT_EVENT_SEMAPHORE + 1), &shared->flag};
  MUST(weft_select(1, &event, 0, &which) == WEFT_ERR_ARGUMENT && which == 5);
  MUST(weft_select(0, &event, 0, &which) == WEFT_ERR_ARGUMENT);
  MUST(weft_mutex_lock(nullptr) == WEFT_ERR_ARGUMENT);
  weft_mutex mutex;
  MUST(weft_mutex_init(&mutex, 4 + bytes_.next()) == WEFT_ERR_ARGUMENT);
  weft_barrier barrier;
  MUST(weft_barrier_init(&barrier, 0) == WEFT_ERR_ARGUMENT);
  MUST(weft_unit_join(nullptr) == WEFT_ERR_ARGUMENT);
  MUST(weft_unit_create(nullptr, nullptr, nullptr, nullptr) == WEFT_ERR_ARGUMENT);
  weft_key none = shared->key;
  none.generation += 2;
  MUST(weft_key_set(none, &which) == WEFT_ERR_ARGUMENT);
  const unsigned huge = WEFT_LATCH_MAX + 1U;
  weft_latch latch;
  MUST(weft_latch_init(&latch, huge) == WEFT_ERR_ARGUMENT);
  weft_semaphore semaphore;
  MUST(weft_semaphore_init(&semaphore, huge) == WEFT_ERR_ARGUMENT);
}

// As many units as a barrier has parties: exactly one is the last, in each round.
void Sequence::team() {
  struct Team {
    weft_barrier barrier;
    std::atomic<int> lasts{0};
  } state;
  const unsigned parties = 1 + bytes_.below(6);
  constexpr int rounds = 3;
  MUST(weft_barrier_init(&state.barrier, parties) == WEFT_OK);
  weft_unit* units[6] = {};
  for (unsigned i = 0; i < parties; ++i) {
    weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
    attr.technique = static_cast<weft_technique>(bytes_.below(13));
    if (attr.technique == WEFT_STACKLESS) attr.technique = WEFT_AUTO;
    const auto entry = [](void* argument) {
      auto& here = *static_cast<Team*>(argument);
      for (int round = 0; round < rounds; ++round) {
        int last = 7;
        MUST(weft_barrier_wait(&here.barrier, &last) == WEFT_OK && (last == 0 || last == 1));
        here.lasts.fetch_add(last);
      }
    };
    MUST(weft_unit_create(entry, &state, &attr, &units[i]) == WEFT_OK);
  }
  MUST(weft_unit_join_many(parties, units) == WEFT_OK);
  MUST(weft_unit_free_many(parties, units) == WEFT_OK);
  MUST(state.lasts.load() == rounds);
  MUST(weft_barrier_destroy(&state.barrier) == WEFT_OK);
}

void Sequence::operation() {
  const unsigned byte = bytes_.next();
  switch (byte % 14) {
    case 0:
    case 1:
    case 2:
      create(false);
      break;
    case 3:
      create(true);
      break;
    case 4:
      create_many();
      break;
    case 5:
      create_wrong();
      break;
    case 6:
      if (!jobs_.empty()) free_job(bytes_.below(static_cast<unsigned>(jobs_.size())));
      break;
    case 7:
      if (Job* job = any_job(); job != nullptr) revive(*job);
      break;
    case 8:
      if (Job* job = any_job(); job != nullptr) {
        job->exact = false;
        MUST(weft_unit_cancel(job->unit) == WEFT_OK);
      }
      break;
    case 9:
      if (byte % 4 == 0)
        close_places();
      else
        open_place();
      break;
    case 10:
    case 11:
      use_root();
      break;
    case 12:
      if (byte % 2 == 0) {
        MUST((byte % 4 == 0 ? weft_flag_set(&shared->flag) : weft_flag_clear(&shared->flag)) == WEFT_OK);
      } else {
        wrong_arguments();
      }
      break;
    default:
      team();
      break;
  }
}

void count_call(void** values, uint32_t count, void* argument) {
  MUST(count == 3);
  for (uint32_t i = 0; i < count; ++i) MUST(values[i] != nullptr);
  static_cast<std::atomic<int>*>(argument)->fetch_add(1);
}

void Sequence::begin() {
  MUST(weft_init() == WEFT_OK);
  shared = new Shared;
  for (unsigned i = 0; i < 4; ++i) {
    shared->guarded[i].kind = i;
    MUST(weft_mutex_init(&shared->guarded[i].mutex, i) == WEFT_OK);
  }
  MUST(weft_future_init(&shared->future, 3, shared->values, count_call, &shared->future_calls) == WEFT_OK);
  MUST(weft_key_create(destroy_value, &shared->key) == WEFT_OK);
}

void Sequence::end() {
  close_places();
  while (!jobs_.empty()) free_job(0);
  const bool full = shared->future_sets.load() == 3;
  MUST(shared->future_sets.load() <= 3 && shared->future_calls.load() == (full ? 1 : 0));
  MUST(weft_future_test(&shared->future) == (full ? WEFT_OK : WEFT_ERR_EMPTY));
  void* value = nullptr;
  if (weft_eventual_test(&shared->eventual, &value, nullptr) == WEFT_OK)
    MUST(value == shared->set_by.load());
  else
    MUST(shared->set_by.load() == nullptr);
  for (Job* job : detached_) delete job;
  for (Guarded& guarded : shared->guarded) {
    MUST(guarded.value == guarded.changes.load());
    MUST(weft_mutex_unlock(&guarded.mutex) == WEFT_ERR_OWNER);
    MUST(weft_mutex_destroy(&guarded.mutex) == WEFT_OK);
  }
  uint32_t permits = 0;
  MUST(weft_semaphore_count(&shared->semaphore, &permits) == WEFT_OK && permits == shared->permits.load());
  MUST(weft_latch_test(&shared->latch) == (shared->latched.load() == 0 ? WEFT_OK : WEFT_ERR_EMPTY));
  MUST(weft_latch_count_down(&shared->latch, shared->latched.load() + 1) == WEFT_ERR_STATE);
  MUST(weft_rwlock_unlock(&shared->rwlock) == WEFT_ERR_OWNER);
  MUST(weft_rwlock_destroy(&shared->rwlock) == WEFT_OK && weft_semaphore_destroy(&shared->semaphore) == WEFT_OK);
  MUST(weft_latch_destroy(&shared->latch) == WEFT_OK && weft_flag_destroy(&shared->flag) == WEFT_OK);
  MUST(weft_eventual_destroy(&shared->eventual) == WEFT_OK && weft_future_destroy(&shared->future) == WEFT_OK);
  MUST(shared->key_values.load() == 0);
  MUST(weft_key_delete(shared->key) == WEFT_OK && weft_key_delete(shared->key) == WEFT_ERR_ARGUMENT);
  delete shared;
  MUST(weft_finalize() == WEFT_OK && weft_finalize() == WEFT_ERR_UNINITIALISED);
}

void Sequence::run() {
  begin();
  for (int count = 0; count < 40 && !bytes_.empty(); ++count) operation();
  end();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Sequence(Bytes(data, size)).run();
  return 0;
}

#ifdef WEFT_FUZZ_RANDOM
// Where a sanitizer is linked in, it calls what it is given here before it ends the process.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

volatile std::uint64_t sequence_number = 0;

/// Async-signal-safe: it is called where the process dies.
void name_sequence() {
  char line[] = "in sequence 00000000000000000000\n";
  std::uint64_t rest = sequence_number;
  for (char* digit = line + sizeof line - 3; rest != 0; rest /= 10, --digit)
    *digit = static_cast<char>('0' + rest % 10);
  (void)!write(STDERR_FILENO, line, sizeof line - 1);
}

void on_death(int signal) {
  name_sequence();
  ::signal(signal, SIG_DFL);
  (void)raise(signal);
}

}  // namespace

// api_fuzzer [SEED [SECONDS]]: sequences one after the other, each of bytes that follow from its number alone. The
// number is printed when the process dies, or when a sequence takes more than 200 s.
int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const long seconds = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 5;
  signal(SIGALRM, on_death);
  signal(SIGABRT, on_death);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(name_sequence);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint64_t number = seed;
  do {
    std::mt19937_64 random(number);
    std::uint8_t bytes[320];
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const std::size_t length = 16 + bytes[0];
    sequence_number = number;
    alarm(200);
    LLVMFuzzerTestOneInput(bytes, length);
    ++number;
  } while (std::chrono::steady_clock::now() < end);
  alarm(0);
  std::fprintf(stderr, "%llu sequences\n", static_cast<unsigned long long>(number - seed));
}
#endif
