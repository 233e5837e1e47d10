#include "os/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/interrupted.h"
#include "arch/system_call.h"

namespace weft::os {
namespace {

struct Range {
  std::uintptr_t low, high;
};

// Two tables in turn, so that a handler can read one while the other is filled.
constexpr unsigned most_ranges = 32;
struct Table {
  unsigned used = 0;
  Range ranges[most_ranges];
};
Table tables[2];
std::atomic<const Table*> current_table{nullptr};

void (*note_arrival)() = nullptr;
void (*leave_code)() = nullptr;
int signal_number = 0;
std::uintptr_t yield_function = 0;  // libc's sched_yield

// While the library is loaded: later, dlsym() would forget the calling thread's last dlerror().
[[gnu::constructor]] void look_up_sched_yield() {
  yield_function = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "sched_yield"));
}

// Where a program that waits politely is most of the time; no lock is held in there.
bool is_in_sched_yield(std::uintptr_t instruction) {
  constexpr std::uintptr_t length = 16;
  return instruction - yield_function < length;
}

bool must_not_be_left(std::uintptr_t instruction) {
  if (is_in_sched_yield(instruction)) return false;
  const Table* table = current_table.load(std::memory_order_acquire);
  if (table == nullptr) return true;
  for (unsigned index = 0; index < table->used; ++index)
    if (instruction >= table->ranges[index].low && instruction < table->ranges[index].high) return true;
  return false;
}

bool is_named_like(const char* path, const char* name) {
  const char* slash = strrchr(path, '/');
  const char* base = slash != nullptr ? slash + 1 : path;
  return strncmp(base, name, strlen(name)) == 0;
}

bool holds(const dl_phdr_info* object, std::uintptr_t address) {
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const auto& segment = object->dlpi_phdr[index];
    const std::uintptr_t low = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= low && address < low + segment.p_memsz) return true;
  }
  return false;
}

int collect(dl_phdr_info* object, std::size_t, void* argument) {
  auto table = static_cast<Table*>(argument);
  bool wanted = holds(object, reinterpret_cast<std::uintptr_t>(&collect));
  for (const char* name : {"libc.so", "libc-", "ld-linux", "ld-musl", "libpthread", "libdl", "libgcc_s", "libstdc++",
                           "libc++", "linux-vdso"})
    wanted = wanted || is_named_like(object->dlpi_name, name);
  if (!wanted) return 0;
  for (int index = 0; index < object->dlpi_phnum && table->used < most_ranges; ++index) {
    const auto& segment = object->dlpi_phdr[index];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t low = object->dlpi_addr + segment.p_vaddr;
    table->ranges[table->used++] = {low, low + segment.p_memsz};
  }
  return 0;
}

void on_signal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TKILL) return;
  note_arrival();
  auto interrupted = static_cast<ucontext_t*>(context);
  if (must_not_be_left(arch::interrupted_instruction(*interrupted))) return;
  // On an alternate stack of the program's own: the next signal would use it again under what was left.
  if ((interrupted->uc_stack.ss_flags & SS_ONSTACK) != 0) return;
  const int kept = errno;
  constexpr long kernel_set_bytes = 8;  // the kernel's signal set is shorter than libc's
  const std::uint64_t mine = std::uint64_t{1} << static_cast<unsigned>(signal_number - 1);
  arch::system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&mine), 0, kernel_set_bytes);
  leave_code();
  errno = kept;  // perhaps on another KLT, but on the same identity
  arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, reinterpret_cast<long>(&interrupted->uc_sigmask),
                    kernel_set_bytes);
  arch::system_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&interrupted->uc_stack));
}

}  // namespace

bool install_interrupt(void (*arrived)(), void (*leave)()) {
  note_arrival = arrived;
  leave_code = leave;
  for (int candidate = SIGRTMAX - 2; candidate > SIGRTMIN && signal_number == 0; --candidate) {
    struct sigaction present {};
    if (sigaction(candidate, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(candidate, &action, nullptr) == 0) signal_number = candidate;
  }
  return signal_number != 0;
}

int interrupt_signal() { return signal_number; }

void refresh_code_not_to_leave() {
  Table& other = current_table.load(std::memory_order_relaxed) == &tables[0] ? tables[1] : tables[0];
  other.used = 0;
  dl_iterate_phdr(collect, &other);
  current_table.store(&other, std::memory_order_release);
}

KltActivity klt_activity(pid_t klt) {
  char path[64];
  char text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", klt);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return KltActivity::gone;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return KltActivity::gone;
  text[length] = '\0';
  const char* name_end = strrchr(text, ')');  // the name may hold anything
  if (name_end == nullptr || name_end[1] != ' ') return KltActivity::gone;
  if (name_end[2] == 'R') return KltActivity::runs;
  return name_end[2] == 'S' || name_end[2] == 'D' ? KltActivity::sleeps : KltActivity::gone;
}

bool interrupt(pid_t klt) { return syscall(SYS_tgkill, getpid(), klt, signal_number) == 0; }

}  // namespace weft::os
