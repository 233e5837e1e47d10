// Leagues: what a teams construct on the host creates (OpenMP 5.2, section 10.2). Both compilers' entry
// points come here.
#pragma once

namespace weft::openmp {

/// What the clauses say; 0: nothing.
struct LeagueRequest {
  unsigned fewest = 0;  // num_teams(fewest:most)
  unsigned most = 0;
  unsigned thread_limit = 0;
  unsigned unsaid = 1;  // how many teams where neither the clause nor nteams-var says it
};

/// Runs function(data) once for each team, each time on the initial thread of a team of its own; returns
/// when all have. omp_get_team_num() tells them apart.
void run_league(const LeagueRequest& request, void (*function)(void*), void* data);

/// For a compiler that runs the teams of a target region one after the other, as a loop: sets which of
/// them the calling initial thread is now, from 0 on. False: there is none after the last.
void begin_league_here(const LeagueRequest& request);
bool next_team_here();

int league_size();
int league_number();

}  // namespace weft::openmp
