#include "team.h"

#include "belongings.h"
#include "kinds.h"
#include "random.h"
#include "threads.h"
#include "where.h"

static int number_of_steps(uint64_t seed, int depth) {
  if (settings.steps && depth <= 1) return settings.steps;
  if (depth <= 1) return 2 + below(seed, 5, 5);
  return 1 + below(seed, 5, depth == 2 ? 3 : 2);
}

static struct Team* new_team(uint64_t seed, int members, int depth, struct Meeting* meeting) {
  struct Team* team = malloc(sizeof *team);
  CHECK(team != NULL, "malloc");
  team->members = members < settings.members ? members : settings.members;
  team->level = omp_get_level() + 1;
  team->depth = depth;
  team->meeting = meeting;
  team->steps = number_of_steps(seed, depth);
  for (int i = 0; i < team->steps; i++) {
    const uint64_t step_seed = mix(seed, (uint64_t)(100 + i));
    prepare_step(&team->step[i], draw_kind(step_seed, depth), step_seed, team->members);
  }
  return team;
}

static void end_team(struct Team* team) {
  for (int i = 0; i < team->steps; i++) finish_step(&team->step[i]);
  free(team);
}

static void print_plan(const struct Team* team) {
  char text[500];
  int length =
      snprintf(text, sizeof text, "%*s%d members at level %d:", 2 * team->depth, "", team->members, team->level);
  for (int i = 0; i < team->steps && length < 450; i++) {
    if (team->step[i].kind) length += snprintf(text + length, 45, " %s", team->step[i].kind->name);
  }
  dprintf(STDERR_FILENO, "%s%s\n", text, team->meeting ? " meeting" : "");
}

static void check_place_in_team(const struct Team* team, int me) {
  CHECK_EQUAL(omp_get_thread_num(), me, "omp_get_thread_num()");
  CHECK_EQUAL(omp_get_num_threads(), team->members, "omp_get_num_threads()");
  CHECK_EQUAL(omp_get_level(), team->level, "omp_get_level()");
}

static void go_through(struct Team* team, int parent) {
  const int me = omp_get_thread_num();
  const char* const step_before = step_here;
  const struct Values before = values_here();
  const struct Belongings mine = take_belongings();
  check_place_in_team(team, me);
  CHECK_EQUAL(omp_get_ancestor_thread_num(team->level - 1), parent, "number of the opener");
  for (int i = 0; i < team->steps; i++) {
    struct Step* step = &team->step[i];
    if (!step->kind) continue;
    step_here = step->kind->name;
    note_thread();
    step->kind->run(team, step, me);
    step_here = step->kind->name;
    check_belongings(&mine);
    check_place_in_team(team, me);
  }
  if (team->meeting) {
    step_here = "meeting";
    attend(team->meeting);
    check_belongings(&mine);
    check_place_in_team(team, me);
  }
  set_values(before);
  step_here = step_before;
}

void run_team(uint64_t seed, int members, int depth, struct Meeting* meeting) {
  const int error = errno;
  struct Team* team = new_team(seed, members, depth, meeting);
  if (settings.plan) print_plan(team);
  const int parent = omp_get_thread_num();
  const struct Values before = values_here();
  int came = 0;
#pragma omp parallel num_threads(team->members) shared(team) reduction(+ : came)
  {
    go_through(team, parent);
    came += 1;
  }
  CHECK_EQUAL(came, team->members, "members that came");
  CHECK_EQUAL(omp_get_thread_num(), parent, "number of the opener");
  check_values(before);
  end_team(team);
  errno = error;
}

void* small_root(void* seed_and_depth) {
  const uint64_t* argument = seed_and_depth;
  const uint64_t seed = argument[0];
  own = 4711;
  run_team(seed, 1 + below(seed, 1, 4), (int)argument[1], NULL);
  CHECK_EQUAL(own, 4711, "thread-local variable of a thread");
  thread_ends();
  return NULL;
}
