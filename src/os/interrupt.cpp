#include "os/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/interrupted.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "os/code_table.h"
#include "os/cut_calls.h"
#include "os/exported_function.h"
#include "os/futex.h"
#include "os/klt.h"
#include "os/libraries.h"
#include "os/linker_lock.h"
#include "os/pages.h"
#include "os/restarted_calls.h"
#include "os/signal_set.h"
#include "os/symbol_table.h"
#include "os/user_ids.h"

namespace weft::os {
namespace {

CodeTable code_not_to_leave;
// Who finds out what belongs there, all signals blocked. Its own lock, and so not held by what was interrupted.
pthread_mutex_t refreshing = PTHREAD_MUTEX_INITIALIZER;
unsigned long long changes_seen = 0;  // of the list of objects, when the table was made; 0: it was not yet

void (*interrupted_code)(const Interruption&) = nullptr;
std::uintptr_t (*end_of_frames_on)(std::uintptr_t) = nullptr;
std::atomic<bool (*)(std::uintptr_t)> has_room_on{nullptr};  // with it the handler begins on the alternate stack
std::atomic<int> signal_number{0};                           // 0: none, or the program has taken it
std::atomic<int> signal_chosen{0};                           // the same, for ever
constexpr int tick_mark = 0x77656674;                        // of a signal that a handler has passed on
constexpr int wake_mark = 0x77656675;                        // of one that wakes a KLT and says nothing else

// Of libc's, looked up while the library is loaded. One whose size is not known (none of that name, or an
// implementation that the linker chose) is none in which a program waits: it is left as little as the rest of libc.
ExportedFunction yield_function;
ExportedFunction sleep_function;
ExportedFunction spin_function;
ExportedFunction clock_function;
ExportedFunction objects_function;
ExportedFunction allocator;     // libc's, or another library's in its place
CodeRange code_of_allocator;    // that library's; empty where it is libc's or the program's own
CodeRange code_with_allocator;  // the program's, if the allocator is a part of it

template <class Take>
void for_each_code(const dl_phdr_info* object, Take take) {
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const auto& segment = object->dlpi_phdr[index];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t low = object->dlpi_addr + segment.p_vaddr;
    take(low, low + segment.p_memsz);
  }
}

// The program itself has no name.
bool is_library(const dl_phdr_info* object) { return object->dlpi_name[0] != '\0'; }

int note_code_of_allocator(dl_phdr_info* object, std::size_t, void*) {
  if (!holds(*object, allocator.begin)) return 0;
  if (holds(*object, yield_function.begin)) return 1;
  CodeRange& code = is_library(object) ? code_of_allocator : code_with_allocator;
  for_each_code(object, [&code](std::uintptr_t low, std::uintptr_t high) { code = {low, high, false}; });
  return 1;
}

// What glibc tells of an object by _dl_find_object(), from 2.35 on; it may have more to tell later.
struct ObjectOfCode {
  unsigned long long flags;
  void* begin;
  void* end;
  const link_map* object;
  void* others[16];
};
using FindObject = int(void*, ObjectOfCode*);
FindObject* find_object = nullptr;

// Early: its handler for forks is called before that of the core (core/fork.cpp). And not when the runtime starts: that
// may wait for who loads a library, whose constructor may wait for that.
[[gnu::constructor(1000)]] void look_up_functions() {
  yield_function = find_exported("sched_yield");
  sleep_function = find_exported("clock_nanosleep");
  spin_function = find_exported("pthread_spin_lock");
  clock_function = find_exported("clock_gettime");
  objects_function = find_exported("dl_iterate_phdr");
  allocator = find_exported("malloc");
  find_object = reinterpret_cast<FindObject*>(find_exported("_dl_find_object").begin);
  for_each_object(note_code_of_allocator, nullptr);
  find_linker_lock();
  look_up_calls_that_are_cut(yield_function);
  // The table itself is whole at any time.
  pthread_atfork(nullptr, nullptr, [] { refreshing = PTHREAD_MUTEX_INITIALIZER; });
}

// weft reads the clock where it is in the midst of something; what reads it cannot be told from there. Where it lies
// is not known: anywhere in libc.
bool is_in_clock(std::uintptr_t instruction) { return clock_function.size == 0 || clock_function.holds(instruction); }

bool begins_with(const char* text, const char* beginning) { return strncmp(text, beginning, strlen(beginning)) == 0; }

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool is_of_runtime(const char* path) {
  const char* file = file_name(path);
  for (const char* name :
       {"libc.so", "libc-", "ld-linux", "ld-musl", "libpthread", "libdl", "libgcc_s", "libstdc++", "libc++"})
    if (begins_with(file, name)) return true;
  return false;
}

// Code that is not in the table may lie in a library that was loaded since. dl_iterate_phdr() takes a lock; but this
// can be asked from a handler: it takes none, and does not stop even where a thread is in the midst of dlopen(), be it
// the interrupted one. Nor can the library go, for the interrupted code is in it. Code that lies in no object at all
// (what a program has compiled for itself, as Julia, Java and Numba do) is left.
//
// Where there is no such function, a new library is taken for one of the program's until the watchdog's next look,
// which makes the table anew. To have all code that is not known run on until then would be no better: what lies in no
// object is never known, and would run on for ever.
bool is_in_new_runtime(std::uintptr_t instruction) {
  ObjectOfCode found;
  return find_object != nullptr && find_object(reinterpret_cast<void*>(instruction), &found) == 0 &&
         is_of_runtime(found.object->l_name);
}

// Nothing is known: everything is.
void look_up(std::uintptr_t instruction, Interruption& interruption) {
  const CodeTable::Found found = code_not_to_leave.find(instruction);
  interruption.in_weft = interruption.in_runtime = found == CodeTable::Found::not_known;
  if (found == CodeTable::Found::not_known || is_in_waiting_call(instruction)) return;
  if (found == CodeTable::Found::nothing && !is_in_new_runtime(instruction)) return;
  interruption.in_runtime = true;
  interruption.in_weft = found == CodeTable::Found::weft || is_in_clock(instruction);
}

struct Collected {
  bool unchanged = false;          // since the last time
  unsigned long long changes = 0;  // 0: cannot be told
  unsigned count = 0;
  CodeRange ranges[CodeTable::most_ranges];
};

unsigned long long count_changes(const dl_phdr_info& object, std::size_t size) {
  constexpr std::size_t needed = offsetof(dl_phdr_info, dlpi_subs) + sizeof object.dlpi_subs;
  return size >= needed ? object.dlpi_adds + object.dlpi_subs : 0;
}

int collect(dl_phdr_info* object, std::size_t size, void* argument) {
  auto& collected = *static_cast<Collected*>(argument);
  collected.changes = count_changes(*object, size);
  collected.unchanged = collected.changes != 0 && collected.changes == changes_seen;
  if (collected.unchanged) return 1;
  const bool of_weft = holds(*object, reinterpret_cast<std::uintptr_t>(&collect)) ||
                       begins_with(file_name(object->dlpi_name), "linux-vdso");  // the clock, see above
  const bool wanted =
      of_weft || (is_library(object) && holds(*object, allocator.begin)) || is_of_runtime(object->dlpi_name);
  if (!wanted) return 0;
  for_each_code(object, [&collected, of_weft](std::uintptr_t low, std::uintptr_t high) {
    if (collected.count < CodeTable::most_ranges) collected.ranges[collected.count++] = {low, high, of_weft};
  });
  return 0;
}

bool lies_in(const CodeRange& code, std::uintptr_t instruction) {
  return instruction >= code.low && instruction < code.high;
}

bool is_ours(const siginfo_t& info, Interruption::Cause& cause) {
  if (info.si_code == SI_TKILL)
    cause = Interruption::Cause::watchdog;
  else if (info.si_code == SI_TIMER)
    cause = Interruption::Cause::timer;
  else if (info.si_code == SI_QUEUE && info.si_value.sival_int == tick_mark)
    cause = Interruption::Cause::forwarded;
  else
    return false;
  return true;
}

// Not, where it wakes somebody: that is in the midst of unlocking something.
bool waits_by_futex(const ucontext_t& interrupted) {
  switch (static_cast<int>(arch::system_call_argument(interrupted, 1)) & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_UNLOCK_PI:
      return false;
    default:
      return true;
  }
}

// The call is to be made.
WordAwaited awaited_by_futex(const ucontext_t& interrupted) {
  const auto argument = [&interrupted](unsigned index) { return arch::system_call_argument(interrupted, index); };
  const auto operation = static_cast<int>(argument(1)) & FUTEX_CMD_MASK;
  const bool has_limit = argument(3) != 0;
  if (has_limit || (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)) return {};
  return {reinterpret_cast<const std::atomic<std::uint32_t>*>(argument(0)), static_cast<std::uint32_t>(argument(2))};
}

SignalMask change_mask(int how, SignalMask change) {
  SignalMask before = 0;
  arch::system_call(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&change), reinterpret_cast<long>(&before),
                    kernel_set_bytes);
  return before;
}

SignalMask mine() { return mask_of(interrupt_signal()); }

SignalMask blocked_in(const ucontext_t& context) {
  SignalMask mask = 0;
  memcpy(&mask, &context.uc_sigmask, kernel_set_bytes);
  return mask;
}

// The kernel says that it cannot read there before it says that it does not know what to do.
bool can_be_read(std::uintptr_t address) {
  constexpr long nothing_known = -1;
  return arch::system_call(SYS_rt_sigprocmask, nothing_known, static_cast<long>(address), 0, kernel_set_bytes) ==
         -EINVAL;
}

constexpr std::uintptr_t looks_at_ticks = 256UL * 1024;
constexpr std::uintptr_t looks_at_yields = 32UL * 1024;  // they come often: 2 us where signals are blocked

// How far to look from there on, for so many bytes at most. Behind a unit's frames lies whatever the kernel has put
// there. (Bug: a malloc arena, whose thread had called dl_iterate_phdr(): what ran on that stack was never left again.)
std::uintptr_t end_of_look(std::uintptr_t begin, std::uintptr_t looks_at) {
  const std::uintptr_t end = end_of_frames_on != nullptr ? end_of_frames_on(begin) : UINTPTR_MAX;
  return end - begin < looks_at ? end : begin + looks_at;
}

// Whether a handler of the program's runs, on the stack from `begin` on: there, within `looks_at` bytes, lies then what
// the kernel has saved, with fewer signals blocked than now. Where none is blocked, or what is blocked on weft's own
// KLTs, none runs (but for one with SA_NODEFER and an empty mask). A context that a handler has left behind on the
// stack, and that nothing has overwritten yet, may be taken for one: then the code is not left this time.
//
// What it reads are the program's words, which others may write meanwhile.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool runs_in_handler(SignalMask blocked, std::uintptr_t begin,
                                                                           std::uintptr_t looks_at) {
  if (blocked == 0 || blocked == signals_blocked_on_klts()) return false;
  constexpr std::uintptr_t step = arch::saved_context_alignment;
  const std::uintptr_t end = end_of_look(begin, looks_at);
  std::uintptr_t readable = begin;  // up to there
  for (std::uintptr_t at = (begin + step - 1) / step * step; at + sizeof(ucontext_t) <= end; at += step) {
    while (at + sizeof(ucontext_t) > readable) {
      if (!can_be_read(readable)) return false;
      readable = (readable / page + 1) * page;
    }
    const auto& there = *reinterpret_cast<const ucontext_t*>(at);
    if (!arch::looks_like_saved_context(there)) continue;
    const SignalMask before = blocked_in(there);
    if (before != blocked && (before & ~blocked) == 0) return true;
  }
  return false;
}

// Whether the code has been called by dl_iterate_phdr(), which holds a lock of the dynamic linker's meanwhile: weft's
// own KLTs want it, and whoever throws. (Unwinders that are linked into a program ask so for each exception.) Then the
// lock has an owner, and a return address into that function lies near on the stack. Who looked once may have left one
// behind there. That does no harm: nearly always nobody has the lock, and while somebody has, the code is not left this
// time, but the next. (Bug: what slept over such an address, in a call on the KLT of a root that could go on, was never
// left.) Where the owner is not known, what runs comes to write over it, or to return; what sleeps does not.
//
// It is known by the thread whose storage the code has, not by the KLT, so nothing is said about which one it is. Nor
// is what sleeps left after a while all the same: with the lock in hand it would wait for a worker, and each worker,
// and the watchdog's KLT, may wait for the lock.
//
// A callback that has put more than this below it is taken for any other code. (Bug: what libgfortran calls to tell
// where an error was has put more than 4 KiB there: nobody got the lock any more.)
//
// It, too, reads the program's words.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool runs_under_lock_of_linker(std::uintptr_t stack) {
  const Held held = linker_lock();
  if (held == Held::no) return false;
  const std::uintptr_t looks_at = held == Held::yes ? 64UL * 1024 : 4096;
  const std::uintptr_t end = end_of_look(stack, looks_at);
  std::uintptr_t readable = (stack / page + 1) * page;  // up to there
  for (std::uintptr_t at = (stack + 7) / 8 * 8; at < end; at += 8) {
    if (at >= readable) {
      if (!can_be_read(at)) return false;
      readable += page;
    }
    const auto word = *reinterpret_cast<const std::uintptr_t*>(at);
    if (objects_function.holds(word - 1)) return true;  // not its own address, which whoever calls it may have at hand
  }
  return false;
}

void on_signal(int signal, siginfo_t* info, void* context);

// From the alternate stack. False: what was interrupted is not to be left. (Or this is not the kernel's own frame, but
// another handler's copy, or Valgrind's.)
bool goes_on_where_interrupted(int signal, const siginfo_t& info, ucontext_t& interrupted) {
  if (!has_room_on.load(std::memory_order_acquire)(arch::interrupted_stack_pointer(interrupted))) return false;
  const arch::SignalFrame frame = arch::signal_frame_of(info, interrupted);
  if (frame.bytes == 0) return false;
  const SignalMask blocked = signals_blocked();
  arch::hand_over_at(arch::place_where_interrupted(frame, interrupted), frame, signal, info, interrupted, on_signal);
  memcpy(&interrupted.uc_sigmask, &blocked, kernel_set_bytes);
  return true;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Interruption interruption{};
  auto interrupted = static_cast<ucontext_t*>(context);
  if (!is_ours(*info, interruption.cause)) {  // also what is to end a suspension, where that has ended before
    make_anew(cut_call_of(*interrupted), *interrupted);
    return;
  }
  const bool spares_stack = arch::came_to_alternate_stack(*interrupted);
  if (spares_stack && goes_on_where_interrupted(signal, *info, *interrupted)) return;
  const CutCall cut = cut_call_of(*interrupted);
  interruption.context = context;
  interruption.instruction = arch::interrupted_instruction(*interrupted);
  look_up(interruption.instruction, interruption);
  interruption.beside_allocator = lies_in(code_with_allocator, interruption.instruction);
  if (arch::makes_rest_of_transfer(*interrupted)) interruption.in_weft = false;  // but in the place of libc's code
  const std::uintptr_t stack = arch::interrupted_stack_pointer(*interrupted);
  if (!interruption.in_weft && (runs_under_lock_of_linker(stack) || loads_libraries())) {
    interruption.in_runtime = true;  // and what sleeps there keeps the lock, too
  } else if (interruption.in_runtime && !interruption.in_weft) {
    const long call = arch::system_call_to_be_made(*interrupted);
    interruption.in_sleep = is_restarted(call) || cut.is_part || arch::system_call_was_cut_short(*interrupted);
    if (call == SYS_futex) {
      const auto [word, value] = interruption.awaited = awaited_by_futex(*interrupted);
      if (!waits_by_futex(*interrupted) || awaits_change_of_user_ids(word, value, stack)) interruption.in_sleep = false;
    }
  }
  const stack_t& alternate = interrupted->uc_stack;  // it does not say whether that is in use
  interruption.in_handler =
      spares_stack || (!interruption.in_weft && runs_in_handler(blocked_in(*interrupted), stack, looks_at_ticks)) ||
      stack - reinterpret_cast<std::uintptr_t>(alternate.ss_sp) < alternate.ss_size;
  interrupted_code(interruption);
  make_anew(cut, *interrupted);
}

// Of the identity that runs this now. The compiler takes the address of errno for one that does not change within a
// function.
[[gnu::noinline]] void set_errno(int value) { errno = value; }

// Libc's sigaction(2), by a name that nobody stands in front of: a face of weft's does in front of the usual one.
extern "C" int __sigaction(int number, const struct sigaction* wanted, struct sigaction* before);

// Whether nobody has a handler for it. One that is ignored is free too: to ignore all of them is what a shell passes on
// to those it starts (`trap '' 1 2 ...`), and nobody sends it.
bool is_free(int number) {
  struct sigaction present {};
  return __sigaction(number, nullptr, &present) == 0 &&
         (present.sa_handler == SIG_DFL || present.sa_handler == SIG_IGN);
}

bool is_handled_here(int number) {
  struct sigaction present {};
  return __sigaction(number, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) != 0 &&
         present.sa_sigaction == on_signal;
}

bool install_on(int number) {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | (has_room_on.load(std::memory_order_relaxed) != nullptr ? SA_ONSTACK : 0);
  sigemptyset(&action.sa_mask);
  return __sigaction(number, &action, nullptr) == 0;
}

}  // namespace

bool is_in_waiting_call(std::uintptr_t instruction) {
  return yield_function.holds(instruction) || sleep_function.holds(instruction) || spin_function.holds(instruction);
}

void libc_sched_yield() {
  using Function = int (*)();
  if (yield_function.begin != 0)
    reinterpret_cast<Function>(yield_function.begin)();
  else
    give_up_cpu();
}

bool is_in_replaced_allocator(std::uintptr_t instruction) { return lies_in(code_of_allocator, instruction); }

bool allocator_lies_in_program() { return code_with_allocator.high != 0; }

bool in_handler_of_program() {
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return runs_in_handler(signals_blocked(), stack, looks_at_yields);
}

bool called_under_lock_of_linker() {
  return runs_under_lock_of_linker(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

void leave(const Interruption& interruption, void (*function)(void*), void* argument) {
  auto interrupted = static_cast<ucontext_t*>(interruption.context);
  const int kept = errno;
  // As the KLT has it between calls. In one that has a mask of its own (ppoll, pselect, epoll_pwait, sigsuspend), the
  // handler came under that one, and the kernel has the real mask put back when the handler returns, which may be on
  // another KLT. (Bug: a root whose KLT was taken back from a member in ppoll() had the call's mask, for ever.)
  set_signals(blocked_in(*interrupted) & ~mine());
  function(argument);
  set_errno(kept);
  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, reinterpret_cast<long>(&interrupted->uc_sigmask),
                    kernel_set_bytes);
  arch::system_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&interrupted->uc_stack));
}

bool install_interrupt(void (*interrupted)(const Interruption&), std::uintptr_t (*end_of_frames)(std::uintptr_t stack),
                       int wanted) {
  interrupted_code = interrupted;
  end_of_frames_on = end_of_frames;
  const auto choose = [](int candidate) {
    if (is_free(candidate) && install_on(candidate)) signal_chosen = signal_number = candidate;
  };
  if (wanted != 0) {
    choose(wanted);
    return interrupt_signal() != 0;
  }
  // One that is blocked, and has no handler, the program waits for, perhaps (sigwait, signalfd).
  const SignalMask blocked = signals_blocked();
  for (const SignalMask passed_over : {blocked, SignalMask{0}})
    for (int candidate = SIGRTMAX - 2; candidate > SIGRTMIN && interrupt_signal() == 0; --candidate)
      if ((passed_over & mask_of(candidate)) == 0) choose(candidate);
  return interrupt_signal() != 0;
}

int interrupt_signal() { return signal_number.load(std::memory_order_relaxed); }

int interrupt_signal_chosen() { return signal_chosen.load(std::memory_order_relaxed); }

void stop_interrupting() { signal_number = 0; }

bool keep_interrupt() {
  const int number = interrupt_signal();
  if (number == 0) return false;
  if (is_handled_here(number)) return true;
  if (is_free(number) && install_on(number)) return true;
  signal_number = 0;
  return false;
}

void spare_small_stacks(bool (*has_room)(std::uintptr_t stack)) {
  static std::atomic<bool> installed{false};
  if (installed.load(std::memory_order_acquire) || !keep_interrupt()) return;
  has_room_on.store(has_room, std::memory_order_release);  // before a handler can ask
  installed.store(install_on(interrupt_signal()), std::memory_order_release);
}

// Not, while the linker is locked, where there is a table: it will be asked for again. (Bug: the watchdog waited for
// the lock, and nobody had a KLT stand in for those of the workers that slept: whoever had the lock waited for one.)
void refresh_code_not_to_leave() {
  const SignalMask before = block_all_signals();
  pthread_mutex_lock(&refreshing);
  Collected collected;
  if (changes_seen != 0 && linker_lock() == Held::yes)
    collected.unchanged = true;
  else
    for_each_object(collect, &collected);
  if (!collected.unchanged) {
    code_not_to_leave.replace(collected.ranges, collected.count);
    changes_seen = collected.changes;
  }
  pthread_mutex_unlock(&refreshing);
  set_signals(before);
}

CodeName name_of_code(std::uintptr_t instruction) {
  CodeName name;
  name.begin = instruction;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(instruction), &info) == 0) return name;
  name.begin = reinterpret_cast<std::uintptr_t>(info.dli_saddr != nullptr ? info.dli_saddr : info.dli_fbase);
  if (info.dli_sname != nullptr) name.function = info.dli_sname;
  if (info.dli_fname == nullptr) return name;
  name.library = info.dli_fname;
  if (info.dli_sname == nullptr) {
    const Symbol symbol = symbol_at(info.dli_fname, reinterpret_cast<std::uintptr_t>(info.dli_fbase), instruction);
    if (symbol.name == nullptr) return name;
    name.begin = symbol.begin;
    name.function = symbol.name;
  }
  return name;
}

namespace {

// An error number.
long queue_signal(pid_t klt, int number, int mark) {
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = mark;
  const long process = arch::system_call(SYS_getpid);
  return -arch::system_call(SYS_rt_tgsigqueueinfo, process, klt, number, reinterpret_cast<long>(&info));
}

}  // namespace

void forward_tick(pid_t klt) { queue_signal(klt, interrupt_signal(), tick_mark); }
// Without it that sleeps for ever. RLIMIT_SIGPENDING is that of a user: others take theirs.
void wake_from_suspension(pid_t klt) {
  while (queue_signal(klt, interrupt_signal_chosen(), wake_mark) == EAGAIN) give_up_cpu();
}

SignalMask signals_blocked() { return change_mask(SIG_BLOCK, 0); }
void block_interrupt(bool block) { change_mask(block ? SIG_BLOCK : SIG_UNBLOCK, mine()); }
SignalMask block_interrupt_only() { return change_mask(SIG_BLOCK, mine()); }
SignalMask block_all_signals() { return change_mask(SIG_SETMASK, ~signals_of_libc); }
void set_signals(SignalMask mask) { change_mask(SIG_SETMASK, mask); }

SignalMask signals_with_handlers() {
  SignalMask found = 0;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction present;
    if (__sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN)
      found |= mask_of(number);
  }
  return found;
}

SignalMask take_pending(SignalMask signals) {
  const timespec at_once{};
  SignalMask taken = 0;
  while (signals != 0) {
    const long number = arch::system_call(SYS_rt_sigtimedwait, reinterpret_cast<long>(&signals), 0,
                                          reinterpret_cast<long>(&at_once), kernel_set_bytes);
    if (number <= 0) break;
    taken |= mask_of(static_cast<int>(number));
    signals &= ~taken;
  }
  return taken;
}

void send_to_this_klt(SignalMask signals) {
  for (int number = 1; signals != 0; ++number, signals >>= 1U)
    if ((signals & 1U) != 0) arch::system_call(SYS_tgkill, arch::system_call(SYS_getpid), this_klt(), number);
}

void suspend_for_interrupt() {
  const SignalMask others = ~(mask_of(interrupt_signal_chosen()) | signals_of_libc);
  arch::system_call(SYS_rt_sigsuspend, reinterpret_cast<long>(&others), kernel_set_bytes);
}

bool interrupt(pid_t klt) {
  errno = 0;
  return keep_interrupt() && syscall(SYS_tgkill, getpid(), klt, interrupt_signal()) == 0;
}

}  // namespace weft::os
