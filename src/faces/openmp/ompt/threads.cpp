// Threads are never freed while the process lives: a tool may look at the data of one that has ended. Those of inner
// teams are taken from a pool, last in first out, and made when it is empty. A thread begins and ends on its own
// identity: a tool's thread-local storage is to be that of the thread it is told of.
#include "faces/openmp/ompt/threads.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/identities.h"
#include "core/scheduler.h"
#include "core/spinlock.h"
#include "faces/openmp/ompt/events.h"

namespace weft::openmp::ompt {
namespace {

core::Spinlock lock;
Thread* pool = nullptr;
Thread* known = nullptr;

// Of one KLT at a time.
thread_local Thread* ending = nullptr;

Thread* make_thread(ThreadKind kind, os::Identity* identity) {
  void* memory = std::malloc(sizeof(Thread));
  if (memory == nullptr) base::panic("no memory for what a tool is told of a thread");
  auto thread = new (memory) Thread;
  thread->kind = kind;
  thread->identity = identity;
  core::SpinGuard guard(lock);
  thread->next_known = known;
  return known = thread;
}

Thread* take_from_pool() {
  {
    core::SpinGuard guard(lock);
    if (Thread* thread = pool; thread != nullptr) {
      pool = thread->next;
      return thread;
    }
  }
  os::Identity* identity = core::identities_enabled ? core::take_identity(*core::this_worker()) : nullptr;
  return make_thread(ThreadKind::worker, identity);
}

template <class T>
T* grown(T* array, unsigned count) {
  auto memory = static_cast<T*>(std::realloc(array, count * sizeof(T)));
  if (memory == nullptr) base::panic("no memory for what a tool is told of a team of %u", count);
  return memory;
}

// By number, for the outermost teams of the root that the calling thread is.
Thread** threads_of_root(Root& root, unsigned size) {
  if (root.thread_count >= size) return root.threads;
  root.threads = grown(root.threads, size);
  for (unsigned number = root.thread_count; number < size; ++number) {
    const bool has_identity = number < root.seats.count;
    root.threads[number] =
        number == 0 ? nullptr : make_thread(ThreadKind::worker, has_identity ? root.seats.identities[number] : nullptr);
  }
  root.thread_count = size;
  return root.threads;
}

// As many as `size` with the master's, which is not among them.
void take_more(KeptThreads& kept, unsigned size) {
  if (kept.seats.count >= size) return;
  kept.threads = grown(kept.threads, size);
  kept.seats.identities = grown(kept.seats.identities, size);
  for (unsigned number = kept.seats.count; number < size; ++number) {
    kept.threads[number] = number == 0 ? nullptr : take_from_pool();
    kept.seats.identities[number] = number == 0 ? nullptr : kept.threads[number]->identity;
  }
  kept.seats.count = size;
}

void give_all_back(const KeptThreads& kept) {
  {
    core::SpinGuard guard(lock);
    for (unsigned number = kept.seats.count; number-- > 1;) {
      kept.threads[number]->next = pool;
      pool = kept.threads[number];
    }
  }
  std::free(kept.seats.identities);
  std::free(kept.threads);
}

KeptThreads& threads_kept_by(Team& initial) {
  if (initial.watched_threads == nullptr) {
    void* memory = std::malloc(sizeof(KeptThreads));
    if (memory == nullptr) base::panic("no memory for what a tool is told of a team");
    initial.watched_threads = new (memory) KeptThreads;
  }
  return *initial.watched_threads;
}

Root& this_root() { return *cache_of(*core::this_worker()).root; }

[[gnu::noinline]] void tell_end(Thread& thread) {
  ending = &thread;
  thread_end(&thread.data);
  ending = nullptr;
}

}  // namespace

Thread* thread_that_ends() { return ending; }

Thread& thread_of_root() { return *make_thread(ThreadKind::initial, nullptr); }

void take_threads(Region& region, Team& team, Thread& opener) {
  region.threads = grown<Thread*>(nullptr, team.size);
  region.threads[0] = &opener;
  if (team.size == 1) return;
  Thread** threads;
  if (team.standing == Standing::outermost) {
    threads = threads_of_root(this_root(), team.size);
  } else {
    Team& outer = *team.master.parent->team;
    KeptThreads& kept = outer.standing == Standing::initial ? threads_kept_by(outer) : region.own;
    take_more(kept, team.size);
    threads = kept.threads;
    team.seats = core::identities_enabled ? &kept.seats : nullptr;
  }
  for (unsigned number = 1; number < team.size; ++number) region.threads[number] = threads[number];
}

void give_threads_back(Region& region) {
  give_all_back(region.own);
  std::free(region.threads);
}

void give_kept_threads_back(Team& initial) {
  give_all_back(*initial.watched_threads);
  std::free(initial.watched_threads);
  initial.watched_threads = nullptr;
}

void begin_as(Thread& thread) {
  thread.busy.store(true, std::memory_order_relaxed);
  if (thread.begun) return;
  thread.begun = true;
  thread_begin(thread.kind, &thread.data);
}

void end_thread(core::Worker& worker, Thread& thread) {
  if (!thread.begun || thread.ended || thread.busy.load(std::memory_order_acquire)) return;
  thread.ended = true;
  os::Identity* here = worker.identities.installed;
  const bool elsewhere = core::identities_enabled && thread.identity != nullptr && thread.identity != here;
  if (elsewhere) core::install(worker, thread.identity);
  tell_end(thread);
  if (elsewhere) core::install(worker, here);
}

void end_threads_of_root(core::Worker& worker, Root& root) {
  for (unsigned number = 1; number < root.thread_count; ++number) end_thread(worker, *root.threads[number]);
  std::free(root.threads);
  root.threads = nullptr;
  root.thread_count = 0;
}

void forget_all_threads() {
  lock.unlock();
  pool = nullptr;
  known = nullptr;
}

void forget_threads_of_root(Root& root) {
  root.threads = nullptr;
  root.thread_count = 0;
}

void forget_threads_of_team(Team& team) {
  team.watched_threads = nullptr;
  if (team.watched != nullptr) team.watched->own = KeptThreads{};
}

void end_all_threads() {
  core::Worker* worker = core::this_worker();
  if (worker == nullptr) return;
  lock.lock();
  Thread* thread = known;
  lock.unlock();
  for (; thread != nullptr; thread = thread->next_known) end_thread(*worker, *thread);
}

}  // namespace weft::openmp::ompt
