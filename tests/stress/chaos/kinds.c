#include "kinds.h"

#include "random.h"
#include "settings.h"
#include "steps.h"
#include "where.h"

// In this order: with another, each seed would be another program.
static const struct Kind kinds[] = {
    {"omp_barriers", omp_barriers, of_plain, 6},
    {"loop_static", loop_static, of_loops, 2},
    {"loop_dynamic", loop_dynamic, of_loops, 4},
    {"loop_guided", loop_guided, of_loops, 2},
    {"loops_nowait", loops_nowait, of_loops, 3},
    {"loop_ordered", loop_ordered, of_loops, 3},
    {"loop_doacross", loop_doacross, of_loops, 3},
    {"reductions", reductions, of_loops, 3},
    {"single_copy", single_copy, of_plain, 3},
    {"sections", in_sections, of_loops, 2},
    {"criticals", criticals, of_plain, 3},
    {"omp_lock_across", omp_lock_across, of_plain, 3},
    {"nest_locks", nest_locks, of_plain, 2},
    {"allocations", allocations, of_plain, 2},
    {"bits", bits, of_plain, 4},
    {"hand_over_blocks", hand_over_blocks, of_plain, 2},
    {"tasks_fibonacci", tasks_fibonacci, of_tasks, 3},
    {"tasks_chain", tasks_chain, of_tasks, 3},
    {"tasks_mutex", tasks_mutex, of_tasks, 2},
    {"tasks_group", tasks_group, of_tasks, 3},
    {"tasks_loop", tasks_loop, of_tasks, 3},
    {"tasks_detached", tasks_detached, of_tasks, 2},
    {"tasks_keep_their_thread", tasks_keep_their_thread, of_tasks, 3},
    {"tasks_wait_yielding", tasks_wait_yielding, of_tasks | of_yield, 3},
    {"tasks_wait_sleeping", tasks_wait_sleeping, of_tasks | of_kernel, 2},
    {"tasks_open_regions", tasks_open_regions, of_tasks | of_nest, 3},
    {"cancel_for", cancel_for, of_cancel, 3},
    {"cancel_parallel", cancel_parallel, of_cancel | of_nest, 3},
    {"cancel_taskgroup", cancel_taskgroup, of_cancel | of_tasks, 2},
    {"nested", nested, of_nest, 7},
    {"nested_by_one", nested_by_one, of_nest, 4},
    {"nested_reductions", nested_reductions, of_nest, 4},
    {"nested_under_lock", nested_under_lock, of_nest, 3},
    {"nested_under_mutex", nested_under_mutex, of_nest | of_kernel, 3},
    {"barrier_spinning", barrier_spinning, of_spin, 1},
    {"barrier_pausing", barrier_pausing, of_spin, 1},
    {"barrier_yielding", barrier_yielding, of_yield, 5},
    {"barrier_sleeping", barrier_sleeping, of_kernel, 3},
    {"barrier_mixed", barrier_mixed, of_spin, 2},
    {"barrier_yielding_or_omp", barrier_yielding_or_omp, of_yield, 4},
    {"barrier_pthread", barrier_pthread, of_kernel, 3},
    {"barrier_condition", barrier_condition, of_kernel, 3},
    {"turns", turns, of_kernel, 2},
    {"flags_yielding", flags_yielding, of_yield, 3},
    {"flags_sleeping", flags_sleeping, of_kernel, 2},
    {"flags_spinning", flags_spinning, of_spin, 1},
    {"mutex_short", mutex_short, of_plain, 2},
    {"mutex_yielding", mutex_yielding, of_kernel, 2},
    {"mutex_across", mutex_across, of_kernel, 4},
    {"common_mutex_across", common_mutex_across, of_kernel, 3},
    {"common_mutex_short", common_mutex_short, of_kernel, 2},
    {"rwlock_across", rwlock_across, of_kernel, 2},
    {"spin_lock_across", spin_lock_across, of_yield, 2},
    {"semaphore", semaphore, of_kernel, 2},
    {"through_pipe", through_pipe, of_kernel, 3},
    {"makes_thread", makes_thread, of_threads, 3},
    {"answers_yielding", answers_yielding, of_threads | of_yield, 3},
    {"answers_sleeping", answers_sleeping, of_threads | of_kernel, 2},
    {"child_of_thread", child_of_thread, of_fork | of_threads, 2},
    {"child_of_member", child_of_member, of_fork, 2},
};
enum { number_of_kinds = sizeof kinds / sizeof *kinds };

static const struct {
  const char* name;
  int class;
} classes[] = {{"spin", of_spin},     {"kernel", of_kernel}, {"yield", of_yield}, {"threads", of_threads},
               {"fork", of_fork},     {"nest", of_nest},     {"tasks", of_tasks}, {"loops", of_loops},
               {"cancel", of_cancel}, {"plain", of_plain}};
enum { number_of_classes = sizeof classes / sizeof *classes };

int only_some;
static int off[number_of_kinds];

static int in_draw(int kind) { return !only_some || !off[kind]; }

const struct Kind* draw_kind(uint64_t seed, int depth) {
  int total = 0;
  for (int i = 0; i < number_of_kinds; i++) total += in_draw(i) ? kinds[i].weight : 0;
  if (total == 0) return NULL;
  int left = below(seed, 3, total);
  for (int i = 0; i < number_of_kinds; i++) {
    if (!in_draw(i)) continue;
    left -= kinds[i].weight;
    if (left >= 0) continue;
    const int too_deep = depth >= settings.depth && (kinds[i].classes & (of_nest | of_threads | of_fork));
    return off[i] || too_deep ? NULL : &kinds[i];
  }
  return NULL;
}

static void switch_name(const char* name, int to) {
  int known = 0, class = 0;
  for (int i = 0; i < number_of_classes; i++) class |= strcmp(classes[i].name, name) == 0 ? classes[i].class : 0;
  for (int i = 0; i < number_of_kinds; i++) {
    if (!(kinds[i].classes & class) && strcmp(kinds[i].name, name) != 0) continue;
    off[i] = to;
    known = 1;
  }
  if (!known) {
    fprintf(stderr, "no step and no class named %s\n", name);
    exit(2);
  }
}

static void switch_names(const char* names, int to) {
  char* copy = strdup(names);
  char* rest = NULL;
  for (char* name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) switch_name(name, to);
  free(copy);
}

void only_kinds(const char* names) {
  for (int i = 0; i < number_of_kinds; i++) off[i] = 1;
  only_some = 1;
  switch_names(names, 0);
}

void without_kinds(const char* names) { switch_names(names, 1); }

int class_is_off(int class) {
  for (int i = 0; i < number_of_kinds; i++) {
    if (kinds[i].classes == class && !off[i]) return 0;
  }
  return 1;
}

void list_kinds(void) {
  for (int i = 0; i < number_of_kinds; i++) {
    printf("%s:", kinds[i].name);
    for (int j = 0; j < number_of_classes; j++) {
      if (kinds[i].classes & classes[j].class) printf(" %s", classes[j].name);
    }
    printf("\n");
  }
}
