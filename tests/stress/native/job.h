// Jobs: units of which it is known how often they run, and what they leave behind. And actors, which is whoever goes
// through steps: a job while it runs, or a root.
#pragma once

#include "random.h"

#include <weft/weft.h>

#include <atomic>
#include <memory>
#include <vector>

namespace native {

/// Where the units of a part of a program go, and what they may do there.
struct Ground {
  std::atomic<long>* detached;  // counts those that nobody joins; whoever has made the ground waits for them
  weft_pool* pool = nullptr;    // nullptr: any
  bool confined = false;        // to that pool: no other caller may put anything there, or it must be empty at the end
  bool stateless = true;        // the scheduler is
  bool may_create = true;
  bool may_detach = true;
  unsigned depth = 0;

  /// Units go anywhere from here on.
  void leave_pool() {
    pool = nullptr;
    stateless = true;
  }
};
constexpr unsigned most_depth = 3;

struct Job;

struct Actor {
  Random random;
  Ground ground;
  Job* job = nullptr;  // nullptr: a root
  bool waits = true;   // it is not stackless
};

struct Job {
  std::uint64_t seed = 0;
  Ground ground;
  void (*body)(Actor& actor) = nullptr;
  void* shared = nullptr;  // among those of a team
  unsigned index = 0;      // in the team
  weft_technique technique = WEFT_AUTO;
  bool own_storage = false;
  bool detached = false;
  int expected = 0;  // how often it has been started
  std::vector<char> stack;

  std::atomic<int> starts{0};
  std::atomic<int> ends{0};
  std::atomic<long> values{0};  // of keys, that are not destroyed yet
  std::uint64_t left = 0;       // written by the unit as the last thing: for whoever joins it

  std::atomic<long>& counter_of_values();
};

template <class Shared>
Shared& shared_of(const Actor& actor) {
  return *static_cast<Shared*>(actor.job->shared);
}

/// What those that are created together have in common.
struct Wish {
  void (*body)(Actor& actor);
  void* shared = nullptr;
  bool waits = false;  // they must be able to
  bool parent_first = false;
  bool spins = false;   // they are preemptive
  bool sleeps = false;  // in the kernel: they keep their kernel thread when they are preempted
  bool throws = false;  // what is thread-local is their own, or they are not preempted
  bool stays = false;   // they neither wait nor are preempted
  bool detached = false;
};

/// Units that their creator joins.
class Team {
 public:
  Team(Actor& creator, const Wish& wish) : creator_(creator), wish_(wish) {}
  void create(unsigned count);
  void create_many(unsigned count);
  /// Joins them in some way, checks what they have done, and frees them.
  void end();
  void revive();
  void join();
  void check() const;
  void free();

  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<weft_unit*> units;

 private:
  Actor& creator_;
  Wish wish_;
};

/// Again and again, within `limit` at first.
void join_in_time(weft_unit* unit, std::uint64_t limit);

/// A team that is created, and ended.
void run_team(Actor& creator, const Wish& wish, unsigned count);
/// Units that nobody joins.
void create_detached(Actor& creator, void (*body)(Actor& actor), unsigned count);
void wait_for_detached(const std::atomic<long>& count);

}  // namespace native
