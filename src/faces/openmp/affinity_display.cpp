// The record of a thread hangs at the thread that opens its region, under its number, so that it is found again
// when that thread opens the next one. A lock guards all records: they are looked at only where affinity is displayed.
#include "faces/openmp/affinity_display.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/roots.h"
#include "core/spinlock.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/places.h"
#include "faces/openmp/root.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

struct DisplayedThread {
  unsigned level = 0;
  unsigned size = 0;
  unsigned place = 0;
  std::uint64_t places = 0;            // a hash of those of the outermost region that it opened last
  DisplayedThread** others = nullptr;  // by number; entry 0 is unused
  unsigned count = 0;
};

namespace {

core::Spinlock lock;

DisplayedThread* new_thread() {
  void* memory = std::malloc(sizeof(DisplayedThread));
  if (memory == nullptr) base::panic("no memory for OMP_DISPLAY_AFFINITY");
  return new (memory) DisplayedThread;
}

DisplayedThread& displayed(const Member& member) {
  DisplayedThread& opener = *member.team->displayed_opener;
  return member.number == 0 ? opener : *opener.others[member.number];
}

void reserve(DisplayedThread& opener, unsigned size) {
  if (opener.count >= size) return;
  auto others = static_cast<DisplayedThread**>(std::realloc(opener.others, size * sizeof(void*)));
  if (others == nullptr) base::panic("no memory for OMP_DISPLAY_AFFINITY");
  opener.others = others;
  for (unsigned number = opener.count; number < size; ++number) others[number] = number == 0 ? nullptr : new_thread();
  opener.count = size;
}

bool changes(DisplayedThread& thread, const Team& team, unsigned number) {
  const unsigned place = places.in_use() ? place_in(team.placement, team.size, number).place : 0;
  if (thread.level == team.level && thread.size == team.size && thread.place == place) return false;
  thread.level = team.level;
  thread.size = team.size;
  thread.place = place;
  return true;
}

bool any_changes(const Team& team) {
  DisplayedThread& opener = *team.displayed_opener;
  bool any = changes(opener, team, 0);
  for (unsigned number = 1; number < team.size; ++number)
    if (changes(*opener.others[number], team, number)) any = true;
  return any;
}

std::uint64_t hash_of_places(const Team& team) {
  std::uint64_t hash = 0;
  for (unsigned number = 0; places.in_use() && number < team.size; ++number)
    hash = (hash ^ place_in(team.placement, team.size, number).place) * 0x9e3779b97f4a7c15U;
  return hash;
}

bool outermost_changes(const Team& team) {
  DisplayedThread& opener = *team.displayed_opener;
  const std::uint64_t now = hash_of_places(team);
  if (opener.size == team.size && opener.places == now) return false;
  opener.size = team.size;
  opener.places = now;
  return true;
}

bool must_display(const Team& team, Dialect dialect) {
  if (dialect == Dialect::llvm) return any_changes(team);
  return team.size > 1 && (team.standing != Standing::outermost || outermost_changes(team));
}

template <Dialect dialect>
void displaying_body(void* argument) {
  Team& team = *static_cast<Team*>(argument);
  display_affinity(dialect, nullptr);
  team.displayed_function(team.displayed_data);
}

}  // namespace

void reset_affinity_display() { lock.unlock(); }

void note_opener(Dialect dialect) { cache_of(core::worker_here()).opener = dialect; }

void attend_displayed_region(Team& team) {
  WorkerCache& cache = cache_of(core::worker_here());
  const Dialect dialect = cache.opener;
  cache.opener = Dialect::gnu;
  {
    core::SpinGuard guard(lock);
    DisplayedThread& opener = displayed(*team.master.parent);
    team.displayed_opener = &opener;
    reserve(opener, team.size);
    if (!must_display(team, dialect)) return;
  }
  team.displayed_function = team.function;
  team.displayed_data = team.data;
  team.function = dialect == Dialect::llvm ? displaying_body<Dialect::llvm> : displaying_body<Dialect::gnu>;
  team.data = &team;
  display_affinity(dialect, nullptr);  // member 0 does not come to displaying_body()
}

void attend_displayed_initial_team(Team& team) {
  const Member* parent = team.master.parent;
  core::SpinGuard guard(lock);
  team.displayed_opener = parent != nullptr ? &displayed(*parent) : new_thread();
}

void free_displayed(DisplayedThread* thread) {
  if (thread == nullptr) return;
  for (unsigned number = 1; number < thread->count; ++number) free_displayed(thread->others[number]);
  std::free(thread->others);
  std::free(thread);
}

}  // namespace weft::openmp
