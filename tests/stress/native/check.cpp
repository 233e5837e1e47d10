#include "check.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// Where a sanitizer is linked in, it calls what it is given here before it ends the process.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace native {
namespace {

struct Watched {
  std::uint64_t seed = 0;
  std::string command;
  std::chrono::seconds patience{0};
  std::mutex mutex;
  std::condition_variable ended;
  bool ends = false;
  std::thread thread;
};
// Never destroyed: a child whose unit comes to its end ends by exit(3), and the thread is the parent's.
Watched* watched = new Watched;
std::atomic<unsigned long> progress{0};

std::array<std::atomic<const char*>, most_roots> root_places;
thread_local unsigned root_number = most_roots;

[[noreturn]] void end_process() {
  if (std::getenv("STRESS_ABORT") != nullptr) {
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  _exit(1);
}

std::string line_of(const std::string& how, const std::string& what) {
  const std::string seed = std::to_string(watched->seed);
  return how + " seed " + seed + ", " + std::to_string(weft_worker_count()) + " workers: " + what +
         "; again: " + watched->command + " " + seed;
}

// One write, so that lines of several threads do not mix.
void say(const std::string& how, const std::string& what) {
  const std::string line = line_of(how, what) + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

const char* name_of(weft_state state) {
  constexpr const char* names[] = {"created", "ready", "running", "suspended", "done"};
  return names[state];
}

std::string who_does_what() {
  std::vector<weft_unit_info> infos(10000);
  infos.resize(std::min(weft_units(infos.data(), infos.size()), infos.size()));
  std::map<std::string, int> counts;
  for (const weft_unit_info& info : infos) ++counts[std::string(info.name) + " (" + name_of(info.state) + ")"];
  std::string text = std::to_string(infos.size()) + " units are not done";
  for (const auto& [what, count] : counts) text += "; " + std::to_string(count) + " at " + what;
  for (unsigned root = 0; root < most_roots; ++root)
    if (const char* place = root_places[root].load(); place != nullptr)
      text += "; root " + std::to_string(root) + " at " + place;
  return text;
}

std::array<char, 1000> last_line;  // of a process that dies; it may be in the midst of anything

void say_last_line() { (void)!write(STDERR_FILENO, last_line.data(), std::strlen(last_line.data())); }

void die(int signal) {
  say_last_line();
  ::signal(signal, SIG_DFL);
  (void)raise(signal);
}

void watch() {
  std::unique_lock lock(watched->mutex);
  unsigned long last = progress.load();
  while (!watched->ended.wait_for(lock, watched->patience, [] { return watched->ends; })) {
    const unsigned long now = progress.load();
    if (now == last) {
      say("HUNG", who_does_what());
      end_process();
    }
    last = now;
  }
}

}  // namespace

void watch_seed(std::uint64_t seed, const char* command) {
  const std::lock_guard guard(watched->mutex);
  watched->seed = seed;
  watched->command = command;
  (void)std::snprintf(last_line.data(), last_line.size(), "%s\n", line_of("DIED", "by a signal").c_str());
  note_progress();
}

void name_seed_of_death() {
  if (__sanitizer_set_death_callback != nullptr) return __sanitizer_set_death_callback(say_last_line);
  struct sigaction action {};
  action.sa_handler = die;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) (void)sigaction(signal, &action, nullptr);
}

void start_watchdog(unsigned seconds) {
  watched->patience = std::chrono::seconds(seconds);
  watched->thread = std::thread(watch);
}

// It has less patience than the parent, which waits for it.
void watch_child() {
  const Watched& parents = *watched;
  watched = new Watched;
  watched->seed = parents.seed;
  watched->command = parents.command + " (a child)";
  watched->patience = parents.patience / 2;
  for (std::atomic<const char*>& place : root_places) place.store(nullptr);
  watched->thread = std::thread(watch);
}

void note_progress() { progress.fetch_add(1, std::memory_order_relaxed); }

void stop_watchdog() {
  {
    const std::lock_guard guard(watched->mutex);
    watched->ends = true;
    watched->ended.notify_one();
  }
  watched->thread.join();
}

void fail(const char* what, long long actual, long long expected) {
  const bool is_plain = actual == 0 && expected == 0;
  say("FAILED", what + (is_plain ? "" : " gave " + std::to_string(actual) + ", not " + std::to_string(expected)));
  end_process();
}

// Not inlined: a unit goes from thread to thread, and would keep the address of what is thread-local.
[[gnu::noinline]] void at(const char* what) {
  if (weft_unit* self = weft_unit_self(); self != nullptr)
    (void)weft_unit_set_name(self, what);
  else if (root_number < most_roots)
    root_places[root_number].store(what);
}

[[gnu::noinline]] void begin_root(unsigned number) {
  root_number = number;
  root_places[number].store("its beginning");
}

[[gnu::noinline]] void end_root() {
  root_places[root_number].store(nullptr);
  root_number = most_roots;
}

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

}  // namespace native
