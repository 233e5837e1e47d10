#include "step.h"

#include "check.h"
#include "program.h"

#include <sstream>

namespace native {
namespace {

// What an actor must be, or be allowed, to do a step.
enum Needs : unsigned {
  waiting = 1,   // it is not stackless
  creating = 2,  // it may create units, that may do so in turn
  open = 4,      // its units are not confined to a pool
  a_root = 8,
  a_unit = 16,
  places = 32,      // the program has pools with workers that are there all the time
  preempting = 64,  // units are preempted
  leaving = 128,    // who sleeps in the kernel leaves its worker
  forking = 256,    // the process may have children
};

struct Step {
  const char* name;
  StepFunction* run;
  unsigned weight;
  unsigned needs;
  bool chosen = true;
};

constexpr unsigned a_team = waiting | creating;

Step steps[] = {
    {"compute", compute, 3, 0},
    {"yield", yield, 3, 0},
    {"sleep", sleep, 2, 0},
    {"block", block, 1, 0},
    {"look", look, 1, 0},
    {"be_switched_off", be_switched_off, 1, 0},
    {"use_mutexes", use_mutexes, 4, 0},
    {"use_rwlock", use_rwlock, 3, 0},
    {"use_semaphore", use_semaphore, 3, 0},
    {"use_key", use_key, 4, a_unit},
    {"migrate", migrate, 3, waiting | open | a_unit},
    {"create_units", create_units, 8, a_team},
    {"create_unjoined", create_unjoined, 3, creating},
    {"cancel_units", cancel_units, 2, a_team},
    {"spin_together", spin_together, 2, a_team | preempting},
    {"drain_pool", drain_pool, 2, a_team | open | places},
    {"meet_at_barrier", meet_at_barrier, 2, a_team},
    {"pass_through_buffer", pass_through_buffer, 2, a_team},
    {"wait_for_once", wait_for_once, 3, a_team},
    {"resume_in_ring", resume_in_ring, 3, a_team},
    {"join_one", join_one, 1, a_team},
    {"open_place", open_place, 2, a_team | open | places},
    {"open_private_place", open_private_place, 2, a_team | open | places},
    {"produce_alone", produce_alone, 3, a_team | open | a_root},
    {"change_scheduler", change_scheduler, 3, a_team | open | a_root},
    {"push_scheduler", push_scheduler, 1, a_team | open | places},
    {"pack_threads", pack_threads, 1, a_team | open | a_root},
    {"add_worker", add_worker, 1, a_team | open | places | a_root},
    {"start_root", start_root, 1, a_team | open | a_root},
    {"use_file", use_file, 2, 0},
    {"pass_stream", pass_stream, 2, a_team},
    {"share_file", share_file, 2, a_team},
    {"poll_files", poll_files, 2, a_team},
    {"shut_down", shut_down, 1, a_team},
    {"serve", serve, 1, a_team},
    {"block_for_another", block_for_another, 1, a_team | leaving},
    {"sleep_for_another", sleep_for_another, 2, a_team | preempting},
    {"poll_in_turn", poll_in_turn, 2, a_team | preempting},
    {"fork_child", fork_child, 1, forking},
    {"fork_in_units", fork_in_units, 1, a_team | forking},
    {"throw_exceptions", throw_exceptions, 2, a_team},
};

unsigned what_has(const Actor& actor) {
  unsigned has = actor.job != nullptr ? a_unit : a_root;
  if (actor.waits) has |= waiting;
  if (actor.ground.may_create && actor.ground.depth < most_depth) has |= creating;
  if (!actor.ground.confined) has |= open;
  if (!program->pools.empty()) has |= places;
  if (program->preempts && !sanitized) has |= preempting;
  if (!sanitized) has |= leaving;
  if (!program->is_child && !sanitized) has |= forking;
  return has;
}

bool suits(const Step& step, unsigned has) { return step.chosen && (step.needs & ~has) == 0; }

void do_one(Actor& actor, unsigned has) {
  unsigned weights = 0;
  for (const Step& step : steps) weights += suits(step, has) ? step.weight : 0;
  Random own = actor.random.fork();
  if (weights == 0) return;
  unsigned drawn = own.below(weights);
  for (const Step& step : steps) {
    if (!suits(step, has)) continue;
    if (drawn < step.weight) {
      std::swap(own, actor.random);
      step.run(actor);
      std::swap(own, actor.random);
      return;
    }
    drawn -= step.weight;
  }
}

}  // namespace

void do_steps(Actor& actor, unsigned count) {
  for (unsigned i = 0; i < count; ++i) do_one(actor, what_has(actor));
}

void do_steps_here(Actor& actor, unsigned count) {
  for (unsigned i = 0; i < count; ++i) do_one(actor, what_has(actor) & ~unsigned{open | a_root | a_unit});
}

void do_anything(Actor& actor) {
  const unsigned depth = actor.ground.depth;
  do_steps(actor, actor.random.between(1, depth == 1 ? 4 : depth == 2 ? 2 : 1));
}

bool choose_steps(const std::string& names, bool only) {
  if (only)
    for (Step& step : steps) step.chosen = false;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    bool found = false;
    for (Step& step : steps) {
      if (name != step.name) continue;
      step.chosen = only;
      found = true;
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace native
