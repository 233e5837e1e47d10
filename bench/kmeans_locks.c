// Fig. 5.15: KMeans with fine-grained tasks and locks whose number decides how often they are contended.
//
//   members=MEMBERS OF THE REGION, replicas=PARTIAL SUMS OF EACH CLUSTER, points=POINTS, iterations=STEPS OF THE METHOD
//
// As in the dissertation's section 5.3.1, each member of a region creates one task for each of its points. A task finds
// the nearest of 24 centres in 41 dimensions and adds the point to a partial sum of that cluster, of which there are
// `replicas`, each with a lock. A partial sum is used by members/replicas of the members: with one replica every task
// that found the same cluster wants the same lock, with as many as members only a task that lost its thread in the
// middle meets another. The master adds up the partial sums and moves the centres.
//
// The dissertation's data (KDD Cup 1999) is replaced by points made here: like those, they stand in groups of very
// unequal size, half of all the points in one. Their coordinates are multiples of 1/1024, so sums of them are exact in
// whatever order they are formed: centres and counts must equal those of a serial run to the last bit. Its time is
// among the checks (serial_us): no tasks, no locks, one partial sum.
#include <math.h>
#include <omp.h>

#include "common.h"

enum { FEATURES = 41, CLUSTERS = 24, MOST_REPLICAS = 1024 };

typedef struct {
  double sum[FEATURES];
  long points;
  omp_lock_t lock;
} __attribute__((aligned(64))) Partial;

typedef struct {
  float of[FEATURES][CLUSTERS];  // by feature: the compiler works on several clusters at once
} Centres;

static int members, replicas, points, iterations;
static float (*data)[FEATURES];
static float corner[CLUSTERS][FEATURES];  // of the boxes in which the points stand
static Partial* partial;                  // [cluster][replica]
static Centres centres;
static long counts[CLUSTERS];  // of the last iteration
static int team;               // members that there really were

static uint64_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static void make_points(void) {
  uint64_t state = 88172645463325252u;
  for (int k = 0; k < CLUSTERS; k++) {
    for (int f = 0; f < FEATURES; f++) corner[k][f] = (float)(next_random(&state) % 8192) / 1024;
  }
  data = allocate(sizeof *data * (size_t)points);
  for (int i = 0; i < points; i++) {
    int k = 0;
    while (k < CLUSTERS - 1 && next_random(&state) % 2) k++;
    for (int f = 0; f < FEATURES; f++) data[i][f] = corner[k][f] + (float)(next_random(&state) % 4096) / 1024;
  }
}

// One in each box, but not in its middle.
static void first_centres(Centres* c) {
  for (int k = 0; k < CLUSTERS; k++) {
    for (int f = 0; f < FEATURES; f++) c->of[f][k] = corner[k][f] + 1;
  }
}

__attribute__((noinline)) static int nearest(const float* point, const Centres* c) {
  float distance[CLUSTERS] = {0};
  for (int f = 0; f < FEATURES; f++) {
    for (int k = 0; k < CLUSTERS; k++) {
      const float apart = point[f] - c->of[f][k];
      distance[k] += apart * apart;
    }
  }
  int best = 0;
  for (int k = 1; k < CLUSTERS; k++) {
    if (distance[k] < distance[best]) best = k;
  }
  return best;
}

__attribute__((noinline)) static void add_point(Partial* to, const float* point) {
  for (int f = 0; f < FEATURES; f++) to->sum[f] += (double)point[f];
  to->points++;
}

static void clear(Partial* p) {
  memset(p->sum, 0, sizeof p->sum);
  p->points = 0;
}

static void move_centre(Centres* c, int k, const double* sum, long of_points) {
  for (int f = 0; f < FEATURES && of_points; f++) c->of[f][k] = (float)(sum[f] / (double)of_points);
}

// --- with tasks and locks --------------------------------------------------------------------------------------------

static void assign_point(int i) {
  const int k = nearest(data[i], &centres);
  Partial* mine = &partial[k * replicas + omp_get_thread_num() * replicas / members];
  omp_set_lock(&mine->lock);
  add_point(mine, data[i]);
  omp_unset_lock(&mine->lock);
}

static void sum_up(void) {
  for (int k = 0; k < CLUSTERS; k++) {
    Partial* all = &partial[k * replicas];
    for (int r = 1; r < replicas; r++) {
      for (int f = 0; f < FEATURES; f++) all->sum[f] += all[r].sum[f];
      all->points += all[r].points;
      clear(&all[r]);
    }
    counts[k] = all->points;
    move_centre(&centres, k, all->sum, all->points);
    clear(all);
  }
}

static void solve(void* unused) {
  (void)unused;
  first_centres(&centres);
  for (int step = 0; step < iterations; step++) {
#pragma omp parallel num_threads(members)
    {
      const long me = omp_get_thread_num(), all = omp_get_num_threads();
      if (me == 0) team = (int)all;
      const int end = (int)(points * (me + 1) / all);
      for (int i = (int)(points * me / all); i < end; i++) {
#pragma omp task firstprivate(i)
        assign_point(i);
      }
    }
    sum_up();
  }
}

// --- the reference ---------------------------------------------------------------------------------------------------

static void solve_serially(Centres* c, long* points_of) {
  static Partial of[CLUSTERS];
  first_centres(c);
  for (int step = 0; step < iterations; step++) {
    for (int k = 0; k < CLUSTERS; k++) clear(&of[k]);
    for (int i = 0; i < points; i++) add_point(&of[nearest(data[i], c)], data[i]);
    for (int k = 0; k < CLUSTERS; k++) {
      move_centre(c, k, of[k].sum, of[k].points);
      points_of[k] = of[k].points;
    }
  }
}

static bool is_right(const Centres* expected, const long* points_of) {
  return team == members && memcmp(&centres, expected, sizeof centres) == 0 &&
         memcmp(counts, points_of, sizeof counts) == 0;
}

static void read_config(const char* config) {
  members = config_int(config, "members", 64);
  replicas = config_int(config, "replicas", 1);
  points = config_int(config, "points", 51200);
  iterations = config_int(config, "iterations", 2);
  if (members < 1 || members > MOST_REPLICAS) fail("members: 1 to %d, not %d", MOST_REPLICAS, members);
  if (replicas < 1 || replicas > members) fail("replicas: 1 to the number of members (%d), not %d", members, replicas);
  if (points < CLUSTERS || points > 10000000) fail("points: %d to 10000000, not %d", CLUSTERS, points);
  if (iterations < 1) fail("iterations: at least 1, not %d", iterations);
}

static void run(const Options* options, const char* config) {
  read_config(config);
  make_points();
  partial = allocate(sizeof *partial * (size_t)(CLUSTERS * replicas));
  for (int p = 0; p < CLUSTERS * replicas; p++) {
    clear(&partial[p]);
    omp_init_lock(&partial[p].lock);
  }
  Centres expected;
  long points_of[CLUSTERS];
  double serial_ns = 1e18;
  for (int i = 0; i < 3; i++) {
    const double start = now_ns();
    solve_serially(&expected, points_of);
    serial_ns = fmin(serial_ns, now_ns() - start);
  }

  const double start = now_ns();
  solve(NULL);
  const double first_ns = now_ns() - start;
  const bool first_right = is_right(&expected, points_of);
  const Samples samples = measure(options, first_ns, solve, NULL);
  const bool right = first_right && is_right(&expected, points_of);
  long most = 0;
  for (int k = 0; k < CLUSTERS; k++) most = counts[k] > most ? counts[k] : most;
  print_result("kmeans_locks", config,
               text("\"members\": %d, \"replicas\": %d, \"points\": %d, \"iterations\": %d", members, replicas, points,
                    iterations),
               &samples, 0, right,
               text("\"largest_cluster\": %.3f, \"serial_us\": %.1f, \"reference\": %.6f", (double)most / points,
                    serial_ns / 1e3, (double)expected.of[0][0]));
  for (int p = 0; p < CLUSTERS * replicas; p++) omp_destroy_lock(&partial[p].lock);
  free(partial);
  free(data);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"members=64,replicas=1", "members=64,replicas=64", "members=2,replicas=1",
                                        "members=2,replicas=2"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
