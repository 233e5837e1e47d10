// Faults that the program handles, by handlers that it has installed before weft's own comes in front of them: they run
// where and as they would without weft, whatever their flags are.
#include "handlers.h"

#include <fenv.h>
#include <omp.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { page_size = 4096, members = 8 };

static void install_all(int number, void (*handler)(int, siginfo_t*, void*), int flags, int blocked) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  if (blocked) {
    sigaddset(&action.sa_mask, blocked);
  }
  CHECK(sigaction(number, &action, NULL) == 0, "sigaction: %s", strerror(errno));
}

// Not before the handlers are there.
static void start_weft(void) {
  omp_set_dynamic(0);
  int present = 0;
#pragma omp parallel num_threads(members) reduction(+ : present)
  present += 1;
  CHECK_EQUAL(present, members, "members of a region");
}

static uint64_t signals_blocked(void) {
  uint64_t mask = 0;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask) == 0, "sigprocmask: %s", strerror(errno));
  return mask;
}

static int is_blocked(int number) { return (signals_blocked() >> (number - 1) & 1) != 0; }

static char* map_closed(size_t bytes) {
  char* pages = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED, "mmap: %s", strerror(errno));
  return pages;
}

static void open_page(const siginfo_t* info) {
  char* page = (char*)((uintptr_t)info->si_addr & ~(uintptr_t)(page_size - 1));
  CHECK(mprotect(page, page_size, PROT_READ | PROT_WRITE) == 0, "a fault at %p, which is none of the test's",
        info->si_addr);
}

// Calls it in each member, between two barriers, and outside of any region.
static void everywhere(void (*body)(char* page)) {
  char* pages = map_closed((members + 1) * page_size);
#pragma omp parallel num_threads(members)
  {
#pragma omp barrier
    body(pages + page_size * omp_get_thread_num());
#pragma omp barrier
  }
  body(pages + page_size * members);
  munmap(pages, (members + 1) * page_size);
}

// ---------------------------------------------------------------- the stack

static atomic_int handled;

static void repair_with_much_stack(int number, siginfo_t* info, void* context) {
  (void)number;
  volatile char room[200 * 1024];
  memset((char*)room, 0x41, sizeof room);
  const uintptr_t stack = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RSP];
  const uintptr_t mine = (uintptr_t)room;
  CHECK(mine < stack && stack - mine < sizeof room + 64 * 1024, "the handler runs at %#lx, what it interrupted at %#lx",
        (unsigned long)mine, (unsigned long)stack);
  open_page(info);
  atomic_fetch_add(&handled, 1);
}

static void write_to(char* page) {
  page[0] = 1;
  CHECK_EQUAL(page[0], 1, "what was written where the handler has opened a page");
}

// Bug: it ran on weft's alternate stack, 64 KiB without a guard, and overwrote the heap below.
static void handler_has_room(void) {
  enum { blocks = 40, bytes = 100000 };
  install_all(SIGSEGV, repair_with_much_stack, 0, 0);
  unsigned char* block[blocks];
  for (int i = 0; i < blocks; i++) {
    block[i] = malloc(bytes);
    memset(block[i], i, bytes);
  }
  start_weft();
  for (int i = 0; i < repeats(5); i++) {
    everywhere(write_to);
  }
  CHECK_EQUAL(atomic_load(&handled), (members + 1) * repeats(5), "faults handled");
  for (int i = 0; i < blocks; i++) {
    for (int k = 0; k < bytes; k++) {
      CHECK_EQUAL(block[i][k], i, "a byte of the heap");
    }
    free(block[i]);
  }
}

static void use_alternate_stack(int number) {
  (void)number;
  volatile char room[16 * 1024];
  memset((char*)room, 0x42, sizeof room);
  atomic_fetch_add(&handled, 1);
}

static void repair_after_another_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  raise(SIGUSR1);
  open_page(info);
}

static void add_up_around_fault(char* page) {
  double sum = 0.5;
  long count = 7;
  for (int i = 0; i < 4; i++) {
    sum += i;
    count += i;
    page[i] = (char)count;
  }
  CHECK(sum == 6.5 && count == 13 && page[3] == 13, "after a fault: %f, %ld, %d", sum, count, page[3]);
}

// While a handler runs that is not on the alternate stack, others have it for themselves.
static void alternate_stack_is_free_meanwhile(void) {
  install_all(SIGSEGV, repair_after_another_signal, 0, 0);
  install(SIGUSR1, use_alternate_stack, SA_ONSTACK);
  start_weft();
  for (int i = 0; i < repeats(5); i++) {
    everywhere(add_up_around_fault);
  }
  CHECK_EQUAL(atomic_load(&handled), (members + 1) * repeats(5), "signals in the midst of handlers of faults");
}

static void repair_on_alternate_stack(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  const char here = 0;
  CHECK((uintptr_t)&here - (uintptr_t)alternate < alternate_size, "the handler does not run on the alternate stack");
  open_page(info);
  atomic_fetch_add(&handled, 1);
}

// A handler that asks for the alternate stack has the program's.
static void handler_on_alternate_stack(void) {
  set_alternate_stack();
  install_all(SIGSEGV, repair_on_alternate_stack, SA_ONSTACK, 0);
  start_weft();
  char* pages = map_closed(2 * page_size);
  write_to(pages);
  write_to(pages + page_size);
  CHECK_EQUAL(atomic_load(&handled), 2, "faults handled");
}

// ---------------------------------------------------------------- the way back

static sigjmp_buf way_out[members + 1];
static char* pages_left;

static void jump_out(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  siglongjmp(way_out[((char*)info->si_addr - pages_left) / page_size], 1);
}

__attribute__((noinline)) static void fault_and_jump(int which) {
  const uint64_t before = signals_blocked();
  if (sigsetjmp(way_out[which], 1) == 0) {
    *(volatile char*)(pages_left + page_size * which) = 1;
    CHECK(0, "a closed page was written");
  }
  CHECK(signals_blocked() == before, "signals blocked after a jump out of a handler: %#lx, must be %#lx",
        (unsigned long)signals_blocked(), (unsigned long)before);
}

static void jump_out_of_handlers(int flags) {
  install_all(SIGSEGV, jump_out, flags, SIGUSR1);
  start_weft();
  pages_left = map_closed((members + 1) * page_size);
  for (int i = 0; i < repeats(5); i++) {
#pragma omp parallel num_threads(members)
    for (int round = 0; round < 20; round++) {
      fault_and_jump(omp_get_thread_num());
      if (round % 5 == 0) {
#pragma omp barrier
      }
    }
    fault_and_jump(members);
  }
}

static void handler_jumps_out(void) { jump_out_of_handlers(0); }
static void handler_jumps_out_of_alternate_stack(void) { jump_out_of_handlers(SA_ONSTACK); }

static sigjmp_buf above_overflow;

static void jump_out_of_overflow(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  (void)context;
  siglongjmp(above_overflow, 1);
}

__attribute__((noinline)) static long use_up_stack(long depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return depth < 0 ? frame[0] : use_up_stack(depth + 1) + frame[0];
}

// By a member on a stack of weft's.
static void overflow_twice(void) {
  install_all(SIGSEGV, jump_out_of_overflow, SA_ONSTACK, 0);
  start_weft();
  volatile int overflows = 0;
#pragma omp parallel num_threads(members)
  if (omp_get_thread_num() == members - 1) {
    while (overflows < 2) {
      if (sigsetjmp(above_overflow, 1) == 0) {
        CHECK(use_up_stack(0) == 1, "a stack without an end");
      }
      overflows = overflows + 1;
    }
  }
  CHECK_EQUAL(overflows, 2, "overflows that a handler has jumped out of");
}

// Bug: the second one waited for the end of the process.
static void handler_jumps_out_of_overflows(void) {
  const struct Run run = run_again("overflow_twice", (struct RunOptions){.environment = {"OMP_STACKSIZE=256K"}});
  CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "two overflows: status %d %s", run.status, run.errors);
  CHECK_EQUAL(lines_with(run.errors, "stack overflow"), 2, "lines that name them");
}

static int good = 4711;

static void change_context(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  CHECK_EQUAL(fegetround(), FE_TONEAREST, "rounding as a handler begins");
  mcontext_t* machine = &((ucontext_t*)context)->uc_mcontext;
  machine->gregs[REG_RAX] = (greg_t)&good;
  machine->fpregs->_xmm[5].element[0] = 42;
}

static void go_on_with_changes(char* page) {
  int loaded = 0;
  int vector = 0;
  fesetround(FE_UPWARD);
  __asm__ volatile("movl (%%rax), %0\n\tmovd %%xmm5, %1" : "=r"(loaded), "=r"(vector) : "a"(page) : "xmm5");
  CHECK_EQUAL(fegetround(), FE_UPWARD, "rounding after a handler");
  fesetround(FE_TONEAREST);
  CHECK_EQUAL(loaded, good, "what was loaded from where the handler has said");
  CHECK_EQUAL(vector, 42, "what the handler has put into a vector register");
}

static void handler_changes_context(void) {
  install_all(SIGSEGV, change_context, 0, 0);
  start_weft();
  for (int i = 0; i < repeats(5); i++) {
    everywhere(go_on_with_changes);
  }
}

// ---------------------------------------------------------------- flags

static void say_and_return(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  (void)context;
  (void)!write(STDERR_FILENO, "handler\n", 8);
}

static void fault_in_last_member(void) {
  char* page = map_closed(page_size);
#pragma omp parallel num_threads(members)
  if (omp_get_thread_num() == members - 1) {
    *(volatile char*)page = 1;
  }
}

static void handle_once(void) {
  install_all(SIGSEGV, say_and_return, (int)SA_RESETHAND, 0);
  start_weft();
  fault_in_last_member();
}

static void handle_sent_once(void) {
  install_all(SIGSEGV, say_and_return, (int)SA_RESETHAND, 0);
  start_weft();
  kill(getpid(), SIGSEGV);
  kill(getpid(), SIGSEGV);
}

// Bug: the handler was called for ever.
static void handler_is_called_once(void) {
  const char* situations[] = {"handle_once", "handle_sent_once"};
  for (int i = 0; i < 2; i++) {
    const struct Run run = run_again(situations[i], (struct RunOptions){.deadline_seconds = 60});
    expect_signal(run.status, SIGSEGV, situations[i]);
    CHECK_EQUAL(lines_with(run.errors, "handler"), 1, "calls of a handler with SA_RESETHAND");
  }
}

static void look_at_mask(int number, siginfo_t* info, void* context) {
  (void)context;
  CHECK(is_blocked(SIGUSR2), "a signal of sa_mask is not blocked in the handler");
  CHECK(is_blocked(number), "the signal itself is not blocked in the handler");
  open_page(info);
  atomic_fetch_add(&handled, 1);
}

static void write_with_mask_kept(char* page) {
  const uint64_t before = signals_blocked();
  write_to(page);
  CHECK(signals_blocked() == before, "signals blocked after a handler: %#lx, must be %#lx",
        (unsigned long)signals_blocked(), (unsigned long)before);
}

// Bug: sa_mask was not heeded.
static void mask_of_handler(void) {
  install_all(SIGSEGV, look_at_mask, 0, SIGUSR2);
  start_weft();
  everywhere(write_with_mask_kept);
  CHECK_EQUAL(atomic_load(&handled), members + 1, "faults handled");
}

static char* inner_pages;
static __thread int depth;

static void fault_within(int number, siginfo_t* info, void* context) {
  (void)context;
  CHECK(!is_blocked(number), "the signal is blocked in a handler with SA_NODEFER");
  if (depth++ == 0) {
    write_to(inner_pages + page_size * atomic_fetch_add(&handled, 1));
  }
  depth--;
  open_page(info);
}

static void faults_in_handlers_with(int flags) {
  install_all(SIGSEGV, fault_within, SA_NODEFER | flags, 0);
  start_weft();
  inner_pages = map_closed((members + 1) * page_size);
  everywhere(write_with_mask_kept);
  CHECK_EQUAL(atomic_load(&handled), members + 1, "faults handled");
}

// Bug: a fault in a handler with SA_NODEFER ended the process.
static void faults_in_handlers(void) { faults_in_handlers_with(0); }
static void faults_in_handlers_on_alternate_stack(void) { faults_in_handlers_with(SA_ONSTACK); }

static void fault_although_ignored(void) {
  signal(SIGSEGV, SIG_IGN);
  start_weft();
  fault_in_last_member();
}

// Bug: a signal that was sent ended the process although it was ignored.
static void ignored_when_sent(void) {
  signal(SIGSEGV, SIG_IGN);
  signal(SIGBUS, SIG_IGN);
  start_weft();
  for (int i = 0; i < 3; i++) {
    kill(getpid(), SIGSEGV);
    kill(getpid(), SIGBUS);
    raise(SIGSEGV);
    start_weft();
  }
  const struct Run run = run_again("fault_although_ignored", (struct RunOptions){.deadline_seconds = 60});
  expect_signal(run.status, SIGSEGV, "a fault that is ignored");
}

int main(int count, char** arguments) {
  const struct Case cases[] = {
      {"handler_has_room", handler_has_room, 0},
      {"alternate_stack_is_free_meanwhile", alternate_stack_is_free_meanwhile, 0},
      {"handler_on_alternate_stack", handler_on_alternate_stack, 0},
      {"handler_jumps_out", handler_jumps_out, 0},
      {"handler_jumps_out_of_alternate_stack", handler_jumps_out_of_alternate_stack, 0},
      {"handler_jumps_out_of_overflows", handler_jumps_out_of_overflows, 0},
      {"handler_changes_context", handler_changes_context, 0},
      {"handler_is_called_once", handler_is_called_once, 0},
      {"mask_of_handler", mask_of_handler, 0},
      {"faults_in_handlers", faults_in_handlers, 0},
      {"faults_in_handlers_on_alternate_stack", faults_in_handlers_on_alternate_stack, 0},
      {"ignored_when_sent", ignored_when_sent, 0},
      {"handle_once", handle_once, 1},
      {"handle_sent_once", handle_sent_once, 1},
      {"overflow_twice", overflow_twice, 1},
      {"fault_although_ignored", fault_although_ignored, 1},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
