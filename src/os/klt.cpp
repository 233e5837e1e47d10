#include "os/klt.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <initializer_list>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/system_call.h"
#include "os/clock.h"
#include "os/control.h"
#include "os/frames_below.h"
#include "os/futex.h"
#include "os/interrupt.h"
#include "os/restarted_calls.h"
#include "os/signal_mask.h"
#include "os/text_file.h"
#include "os/user_ids.h"

namespace weft::os {
namespace {

// How many KLTs weft has started and how many of them have ended. One is counted after it has started and before it
// ends, so that the kernel never has fewer of them than are counted.
std::atomic<unsigned> started{0};
std::atomic<unsigned> ended{0};

// What stands in a stat file behind the name of the KLT or process, which may hold anything: a blank and field 3
// (proc(5)).
const char* behind_name(const char* text) {
  const char* name_end = strrchr(text, ')');
  return name_end != nullptr ? name_end + 1 : nullptr;
}

// A field of a stat file by its number in proc(5), from 3 on, with the blank before it; nullptr: it is not there.
const char* field_of(const char* text, int wanted) {
  const char* field = behind_name(text);
  for (int number = 3; field != nullptr && number < wanted; ++number) field = strchr(field + 1, ' ');
  return field;
}

// The threads that the process has, its main thread among them, which has ended; 0: not known, or it has not. By the
// one file that names no thread: it says so in a PID namespace without a /proc of its own, too.
unsigned count_threads_without_main() {
  char text[1024];
  if (read_file("/proc/self/stat", text) <= 0) return 0;
  const char* state = field_of(text, 3);
  if (state == nullptr || (strncmp(state, " Z", 2) != 0 && strncmp(state, " X", 2) != 0)) return 0;
  const char* threads = field_of(text, 20);
  return threads != nullptr ? static_cast<unsigned>(strtoul(threads, nullptr, 10)) : 0;
}

// Whether /proc knows threads by the numbers that they have here: that of another PID namespace does not, or knows
// other threads by them. False also where there is none, or no file can be opened.
bool proc_is_of_this_namespace() {
  char text[64];
  return read_file("/proc/thread-self/stat", text) > 0 && strtol(text, nullptr, 10) == this_klt();
}

std::atomic<bool> proc_is_trusted{false};  // as found last; what goes wrong is looked at again

bool look_whether_proc_is_trusted() {
  const bool trusted = proc_is_of_this_namespace();
  proc_is_trusted.store(trusted, std::memory_order_relaxed);
  return trusted;
}

// A file about the KLT. `gone`: there is no such KLT; `cannot_be_read`: nobody can tell so.
enum class Reading { done, gone, cannot_be_read };

template <class Read>
Reading read_about(pid_t klt, const char* name, Read read) {
  if (!proc_is_trusted.load(std::memory_order_relaxed) && !look_whether_proc_is_trusted())
    return Reading::cannot_be_read;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/%s", klt, name);
  if (read(path)) return Reading::done;
  return look_whether_proc_is_trusted() ? Reading::gone : Reading::cannot_be_read;
}

template <std::size_t size>
Reading read_about(pid_t klt, const char* name, char (&text)[size]) {
  return read_about(klt, name, [&text](const char* path) { return read_file(path, text) > 0; });
}

// Line by line, for it lists all groups of the user. (Bug: of who is in some hundreds of them nothing behind was seen.)
template <class GoesOn>
bool read_status(pid_t klt, GoesOn goes_on) {
  return read_about(klt, "status", [goes_on](const char* path) { return read_lines(path, goes_on); }) == Reading::done;
}

// What stands behind the label; nullptr: it is another line.
const char* behind_label(const char* line, const char* label) {
  const std::size_t length = strlen(label);
  return strncmp(line, label, length) == 0 ? line + length : nullptr;
}

// What thread-local storage and libc's own descriptor take out of a stack. Private to glibc but stable (other language
// runtimes use it); without it, a generous guess. Looked up once and while the library is loaded: dlsym() forgets the
// calling thread's last dlerror(), and a KLT may be started in the middle of a member's code.
std::size_t (*minimum_stack)(const pthread_attr_t*) = nullptr;

[[gnu::constructor]] void look_up_minimum_stack() {
  minimum_stack = reinterpret_cast<decltype(minimum_stack)>(dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
}

std::size_t stack_for(std::size_t wanted) {
  std::size_t bytes = wanted;
  pthread_attr_t attributes;
  if (minimum_stack != nullptr && pthread_attr_init(&attributes) == 0) {
    bytes += minimum_stack(&attributes);
    pthread_attr_destroy(&attributes);
  } else {
    bytes += 256UL * 1024;
  }
  return (bytes + 0xfff) & ~static_cast<std::size_t>(0xfff);
}

// 0: nothing has been started yet. One word for all, by which weft's KLTs are known (is_of_klts): what
// blocked_signals() says of them may change later, when the program takes the signal that interrupts.
std::atomic<SignalMask> blocked_at_work{0};
constexpr SignalMask is_settled = mask_of(SIGKILL);  // which nobody can block: some have begun with it, and it stays
std::atomic<SignalMask> of_program{0};
std::atomic<SignalMask> before_call{0};
std::atomic<unsigned> calls_that_block{0};  // begun and ended; odd: the main thread is in one
std::atomic<SignalMask> behind_foreign{0};
std::atomic<unsigned> foreign_masks{0};  // put in force on the main thread and taken back; odd: there is one

// Before a KLT begins.
void settle_signals_at_work() {
  SignalMask mask = blocked_at_work.load(std::memory_order_relaxed);
  while (mask != 0 && (mask & is_settled) == 0) {
    const SignalMask of_those = of_program.load(std::memory_order_relaxed) & signals_left_to_program;
    if (blocked_at_work.compare_exchange_weak(mask, mask | of_those | is_settled, std::memory_order_relaxed)) return;
  }
}

sigset_t blocked_signals(Signals signals) {
  if (signals == Signals::of_program) return set_of_mask(of_program.load(std::memory_order_relaxed));
  sigset_t blocked;
  sigfillset(&blocked);
  if (signals == Signals::none) return blocked;
  if (takes_commands()) sigdelset(&blocked, SIGURG);
  if (signals == Signals::of_commands) return blocked;
  for (int open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE, SIGXFSZ, SIGPROF, SIGVTALRM})
    sigdelset(&blocked, open);
  if (interrupt_signal() != 0) sigdelset(&blocked, interrupt_signal());
  return blocked;
}

// Who sleeps exactly, and by how much its sleeps were late before.
std::atomic<int> exact_klt{0};
std::atomic<int> usual_slack{0};

void set_slack(int nanoseconds) { prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(nanoseconds), 0UL, 0UL, 0UL); }

// A KLT has that from whoever starts it. (Bug: what polled by usleep(1) on one that the watchdog had started did not
// sleep at all.)
class UsualSlack {
 public:
  UsualSlack() : changes_(exact_klt.load(std::memory_order_relaxed) == this_klt()) {
    if (changes_) set_slack(usual_slack.load(std::memory_order_relaxed));
  }
  ~UsualSlack() {
    if (changes_) set_slack(1);
  }
  UsualSlack(const UsualSlack&) = delete;
  UsualSlack& operator=(const UsualSlack&) = delete;

 private:
  bool changes_;
};

}  // namespace

int start_klt(void* (*entry)(void*), void* argument, std::size_t stack_bytes, Signals signals, const CpuSet& cpus) {
  const UsualSlack usual_slack_for_it;
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_for(stack_bytes));

  settle_signals_at_work();
  const SignalMask at_work = signals_blocked_on_klts();
  const bool is_known = signals == Signals::of_its_work && at_work != 0;
  const sigset_t blocked = is_known ? set_of_mask(at_work) : blocked_signals(signals);
  // That takes memory. (Bug: without, the KLT took the signals of whoever started it.)
  error = pthread_attr_setsigmask_np(&attributes, &blocked);
  if (error == 0 && cpus.count() != 0)
    error = pthread_attr_setaffinity_np(&attributes, sizeof cpus.words, reinterpret_cast<const cpu_set_t*>(cpus.words));
  pthread_t thread;
  if (error == 0) error = pthread_create(&thread, &attributes, entry, argument);
  if (error == 0) {
    started.fetch_add(1, std::memory_order_seq_cst);
    let_user_ids_change();
  }
  pthread_attr_destroy(&attributes);
  return error;
}

void remember_signals() {
  of_program.store(signals_blocked(), std::memory_order_relaxed);
  blocked_at_work.store(mask_of_set(blocked_signals(Signals::of_its_work)), std::memory_order_relaxed);
}

namespace {

// Whether that is what weft's KLTs have blocked, and not what the program wants its children to have. One that calls a
// function without its worker (core/klt_switch.cpp) has the signal that interrupts blocked besides.
bool is_of_klts(SignalMask blocked) {
  return blocked != 0 && (blocked & ~mask_of(interrupt_signal_chosen())) == signals_blocked_on_klts();
}

struct SignalState {
  SignalMask blocked = 0;
  SignalMask handled = 0;
};

bool read_signals(pid_t klt, SignalState& state) {
  unsigned missing = 2;
  const auto read_mask = [&missing](const char* line, const char* label, SignalMask& mask) {
    const char* text = behind_label(line, label);
    if (text == nullptr) return;
    mask = strtoull(text, nullptr, 16);
    --missing;
  };
  return read_status(klt,
                     [&](const char* line) {
                       read_mask(line, "SigBlk:", state.blocked);
                       read_mask(line, "SigCgt:", state.handled);
                       return missing != 0;
                     }) &&
         missing == 0;
}

// Who forks, starts a thread or looks at the libraries has all blocked for a moment. And who is in a handler has one
// more blocked than before, which is handled: that counts if it is still so after a while.
void look_up_signals_of_main() {
  constexpr int most_tries = 200;
  constexpr int most_looks = 20;
  constexpr std::uint64_t between_looks_ns = 1000ULL * 1000;
  const SignalMask all = ~(mask_of(SIGKILL) | mask_of(SIGSTOP) | signals_of_libc);
  const SignalMask known = of_program.load(std::memory_order_relaxed) | mask_of(interrupt_signal());
  SignalMask always = all;
  SignalState of_main;
  for (int tries = 0, looks = 0; tries < most_tries; ++tries) {
    const unsigned foreign = foreign_masks.load(std::memory_order_seq_cst);
    const unsigned calls = calls_that_block.load(std::memory_order_seq_cst);
    if (foreign % 2 != 0 || calls % 2 != 0) {
      always = (foreign % 2 != 0 ? behind_foreign : before_call).load(std::memory_order_relaxed);
      break;
    }
    if (!read_signals(getpid(), of_main)) break;
    if (calls_that_block.load(std::memory_order_seq_cst) != calls ||
        foreign_masks.load(std::memory_order_seq_cst) != foreign)
      continue;
    always &= of_main.blocked;
    const SignalMask unexpected = always & ~known;
    if (unexpected == 0) break;
    if ((of_main.blocked & all) == all) {
      give_up_cpu();
      continue;
    }
    const bool may_be_in_handler = (unexpected & of_main.handled) != 0;
    if (!may_be_in_handler || ++looks == most_looks) break;
    nap(between_looks_ns);
  }
  if (always != all) of_program.store(always & ~mask_of(interrupt_signal()), std::memory_order_relaxed);
}

}  // namespace

void begin_call_that_blocks(SignalMask blocked_before) {
  if (this_klt() != getpid()) return;
  before_call.store(blocked_before, std::memory_order_relaxed);
  calls_that_block.fetch_add(1, std::memory_order_seq_cst);
}

void end_call_that_blocks() {
  if (this_klt() == getpid()) calls_that_block.fetch_add(1, std::memory_order_seq_cst);
}

void note_mask_on_main(bool foreign, SignalMask of_main) {
  if (this_klt() != getpid()) return;
  if (foreign) behind_foreign.store(of_main, std::memory_order_relaxed);
  if ((foreign_masks.load(std::memory_order_relaxed) % 2 != 0) != foreign)
    foreign_masks.fetch_add(1, std::memory_order_seq_cst);
}

void note_change_by_main() {
  if (blocked_at_work.load(std::memory_order_relaxed) == 0) return;  // remember_signals() will look
  if (this_klt() != getpid() || in_handler_of_program()) return;
  of_program.store(signals_blocked() & ~mask_of(interrupt_signal()), std::memory_order_relaxed);
}

void look_up_signals() {
  if (is_of_klts(signals_blocked())) look_up_signals_of_main();
}

SignalMask signals_of_child() {
  const SignalMask own = signals_blocked();
  if (!is_of_klts(own)) return own;
  look_up_signals_of_main();
  return of_program.load(std::memory_order_relaxed);
}

SignalMask signals_of_program() { return of_program.load(std::memory_order_relaxed); }

void give_back_signals() {
  if (is_of_klts(signals_blocked())) set_signals(of_program.load(std::memory_order_relaxed));
}

std::uint64_t signals_blocked_on_klts() { return blocked_at_work.load(std::memory_order_relaxed) & ~is_settled; }

void note_klt_end() { ended.fetch_add(1, std::memory_order_seq_cst); }

void forget_klts() {
  blocked_at_work.fetch_and(~(is_settled | signals_left_to_program), std::memory_order_relaxed);
  calls_that_block.store(0, std::memory_order_relaxed);
  foreign_masks.store(0, std::memory_order_relaxed);
  started.store(0, std::memory_order_relaxed);
  ended.store(0, std::memory_order_relaxed);
  proc_is_trusted.store(false, std::memory_order_relaxed);  // the child may be in another PID namespace
}

bool only_own_klts_left() {
  // One number from the kernel, and none of ours may change meanwhile: a list of the threads, read while some come and
  // go, may lack the program's only one. Where the kernel does not say, the process goes on.
  const unsigned started_before = started.load(std::memory_order_seq_cst);
  const unsigned ended_before = ended.load(std::memory_order_seq_cst);
  constexpr unsigned main_thread = 1;
  const bool only = count_threads_without_main() == started_before - ended_before + main_thread;
  return only && started.load(std::memory_order_seq_cst) == started_before &&
         ended.load(std::memory_order_seq_cst) == ended_before;
}

// The kernel says 20 less the nice value, or minus an error.
bool is_of_low_priority() {
  const auto priority = arch::system_call(SYS_getpriority, PRIO_PROCESS, 0);
  return priority > 0 && priority < 20;
}

bool is_gone(pid_t klt) { return arch::system_call(SYS_tgkill, getpid(), klt, 0) == -ESRCH; }

KltActivity klt_activity(pid_t klt, std::uint64_t* blocked) {
  char text[768];
  const Reading reading = read_about(klt, "stat", text);
  if (reading == Reading::cannot_be_read) return is_gone(klt) ? KltActivity::gone : KltActivity::not_known;
  if (reading == Reading::gone) return KltActivity::gone;
  if (blocked != nullptr) {
    const char* field = field_of(text, 32);
    *blocked = field != nullptr ? strtoull(field, nullptr, 10) : UINT64_MAX;
  }
  const char* state = behind_name(text);
  if (state == nullptr || state[0] != ' ') return KltActivity::gone;
  if (state[1] == 'R') return KltActivity::runs;
  return state[1] == 'S' || state[1] == 'D' ? KltActivity::sleeps : KltActivity::gone;
}

std::optional<bool> has_interrupt_blocked(pid_t klt) {
  SignalState state;
  if (!read_signals(klt, state)) return {};
  return (state.blocked & mask_of(interrupt_signal())) != 0;
}

bool sleeps_restartably(pid_t klt) {
  char text[256];
  if (read_about(klt, "syscall", text) != Reading::done) return false;
  // Its number and arguments; "running" if it makes none.
  char* rest = nullptr;
  const long number = strtol(text, &rest, 10);
  if (rest == text || !is_restarted(number)) return false;
  if (number != SYS_futex) return true;
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = strtoul(rest, &rest, 16);
  return arguments[3] == 0;  // no limit of time
}

std::optional<unsigned long> klt_sleeps(pid_t klt) {
  std::optional<unsigned long> sleeps;
  read_status(klt, [&sleeps](const char* line) {
    const char* text = behind_label(line, "voluntary_ctxt_switches:");
    if (text != nullptr) sleeps = strtoul(text, nullptr, 10);
    return text == nullptr;
  });
  return sleeps;
}

int this_klt() { return static_cast<int>(arch::system_call(SYS_gettid)); }

void sleep_exactly() {
  usual_slack.store(prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), std::memory_order_relaxed);
  exact_klt.store(this_klt(), std::memory_order_relaxed);
  set_slack(1);
}

clockid_t cpu_clock_of(int klt) {
  // As the kernel encodes it (include/linux/posix-timers.h).
  constexpr clockid_t thread_clock = 6;
  return (~static_cast<clockid_t>(klt)) * 8 | thread_clock;
}

unsigned long long klt_cpu_time(int klt) { return read_ns(cpu_clock_of(klt)); }

}  // namespace weft::os
