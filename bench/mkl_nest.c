// Figs. 5.3 and 5.4: a parallel loop over independent dgemv or dgemm of Intel's MKL, each with threads of its own.
//
//   kind=dgemv|dgemm, n=ORDER OF THE MATRICES, outer=CALLS AND OUTER MEMBERS, inner=MKL'S THREADS FOR EACH
//
// WEFT_BENCH_MKL names the folder of libmkl_rt.so, MKL_THREADING_LAYER the layer, INTEL or GNU: which compiler has
// built what MKL runs, and so which entry points of the runtime it calls. (MKL by itself takes GNU's wherever a libgomp
// is loaded, whatever the variable says, so it is told by a call.) MKL is told not to choose numbers of threads by
// itself (MKL_DYNAMIC=false). Within its regions it waits by barriers of its own, which spin on a flag without a
// word to the runtime: BOLT hangs there when there are more members than workers (dissertation, section 6.2.3).
//
// MKL takes its plain kernels on processors of other makers than Intel, whatever they can do, and gives dgemv no
// threads there. Two functions below answer its question about the maker with yes, so that the inner level opens
// everywhere.
//
// Results are compared with products formed here. That the inner level opens, with teams of the number asked for, is
// counted (regions_seen.h) outside the measured time. MKL loads its own libiomp5 for the layer INTEL, whatever is
// there; a run is wrong if its calls go to another runtime than the program's.
#include <glob.h>
#include <link.h>
#include <omp.h>

#include "common.h"
#include "matrices.h"
#include "regions_seen.h"
#include "regions_seen_kmpc.h"

typedef void Dgemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                   const int*, const double*, const int*, const double*, double*, const int*);
typedef void Dgemv(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                   const int*, const double*, double*, const int*);

static Dgemm* dgemm;
static Dgemv* dgemv;
static int (*set_threads)(int);
static void (*set_dynamic)(int);

typedef struct {
  bool is_dgemm;
  int n, outer, inner;
  double **a, **b, **c;  // vectors in b and c are the first columns
} Case;

// --- the library -----------------------------------------------------------------------------------------------------

// Stores the address of the function; ISO C knows no conversion.
static void find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  if (!symbol) fail("MKL has no %s", name);
  memcpy(function, &symbol, sizeof symbol);
}

// What MKL calls to learn whether the processor is one of Intel's; ours stand first in the search order.
typedef int Question(void);
static int yes(void) { return 1; }
__attribute__((visibility("default"))) Question* mkl_serv_get_cpu(void);
__attribute__((visibility("default"))) Question* mkl_serv_get_cpu_true(void);
Question* mkl_serv_get_cpu(void) { return yes; }
Question* mkl_serv_get_cpu_true(void) { return yes; }

static void choose_layer(void* library) {
  enum { INTEL = 0, GNU = 3 };  // as mkl_service.h has them
  const char* layer = getenv("MKL_THREADING_LAYER");
  if (!layer || (strcmp(layer, "INTEL") != 0 && strcmp(layer, "GNU") != 0)) {
    fail("MKL_THREADING_LAYER must be INTEL or GNU");
  }
  const int wanted = strcmp(layer, "INTEL") == 0 ? INTEL : GNU;
  int (*set_layer)(int);
  find(library, "MKL_Set_Threading_Layer", &set_layer);
  if (set_layer(wanted) != wanted) fail("MKL does not take its layer %s", layer);
}

static void load_mkl(void) {
  const char* folder = getenv("WEFT_BENCH_MKL");
  if (!folder || !*folder) fail("WEFT_BENCH_MKL must name the folder of libmkl_rt.so (PyPI: mkl)");
  glob_t found;
  if (glob(text("%s/libmkl_rt.so*", folder), 0, NULL, &found) != 0) fail("there is no libmkl_rt.so in %s", folder);
  void* library = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
  if (!library) fail("%s", dlerror());
  globfree(&found);
  find(library, "dgemm_", &dgemm);
  find(library, "dgemv_", &dgemv);
  find(library, "MKL_Set_Num_Threads_Local", &set_threads);
  find(library, "MKL_Set_Dynamic", &set_dynamic);
  choose_layer(library);
  set_dynamic(0);
}

// The layer that MKL has really loaded.
static int look_at_object(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  const char** layer = argument;
  if (strstr(info->dlpi_name, "libmkl_intel_thread")) *layer = "INTEL";
  if (strstr(info->dlpi_name, "libmkl_gnu_thread")) *layer = "GNU";
  return 0;
}

// --- the nest --------------------------------------------------------------------------------------------------------

static void calls(void* argument) {
  const Case* s = argument;
#pragma omp parallel for num_threads(s->outer) schedule(static, 1)
  for (int i = 0; i < s->outer; i++) {
    const double one = 1, zero = 0;
    const int n = s->n, step = 1;
    set_threads(s->inner);
    if (s->is_dgemm) {
      dgemm("N", "N", &n, &n, &n, &one, s->a[i], &n, s->b[i], &n, &zero, s->c[i], &n);
    } else {
      dgemv("N", &n, &n, &one, s->a[i], &n, s->b[i], &step, &zero, s->c[i], &step);
    }
  }
}

static double worst_error(const Case* s) {
  double worst = 0;
  for (int i = 0; i < s->outer; i++) {
    const double error =
        s->is_dgemm ? product_error(s->n, s->a[i], s->b[i], s->c[i]) : vector_error(s->n, s->a[i], s->b[i], s->c[i]);
    worst = fmax(worst, error);
  }
  return worst;
}

static double*** all_matrices(Case* s, int which) { return which == 0 ? &s->a : which == 1 ? &s->b : &s->c; }

static void allocate_matrices(Case* s) {
  for (int which = 0; which < 3; which++) {
    double** matrices = allocate(sizeof(double*) * (size_t)s->outer);
    for (int i = 0; i < s->outer; i++) matrices[i] = new_matrix(s->n, 3 * (uint64_t)i + (uint64_t)which);
    *all_matrices(s, which) = matrices;
  }
}

static void free_matrices(Case* s) {
  for (int which = 0; which < 3; which++) {
    for (int i = 0; i < s->outer; i++) free((*all_matrices(s, which))[i]);
    free(*all_matrices(s, which));
  }
}

static void run(const Options* options, const char* config) {
  Case s = {.is_dgemm = config_is(config, "kind", "dgemm"),
            .n = config_int(config, "n", 256),
            .outer = config_int(config, "outer", 4),
            .inner = config_int(config, "inner", 1)};
  if (!s.is_dgemm && !config_is(config, "kind", "dgemv")) fail("kind is dgemv or dgemm: '%s'", config);
  if (s.n < 1 || s.outer < 1 || s.inner < 1) fail("n, outer and inner are at least 1: '%s'", config);
  allocate_matrices(&s);

  count_regions(true);
  const double start = now_ns();
  calls(&s);
  const double first_ns = now_ns() - start;
  count_regions(false);
  const bool opened = inner_level_opened(s.inner);
  const char* regions = seen_checks();
  double error = worst_error(&s);

  const Samples samples = measure(options, first_ns, calls, &s);
  error = fmax(error, worst_error(&s));
  const char* layer = "unknown";
  dl_iterate_phdr(look_at_object, &layer);
  const bool ok = opened && error < 1e-12 && (strcmp(layer, "INTEL") != 0 || is_one_runtime());
  print_result("mkl_nest", config,
               text("\"kind\": \"%s\", \"n\": %d, \"outer\": %d, \"inner\": %d", s.is_dgemm ? "dgemm" : "dgemv", s.n,
                    s.outer, s.inner),
               &samples, 0, ok,
               text("%s, \"inner_opened\": %s, \"error\": %.3g, \"layer\": \"%s\"", regions, opened ? "true" : "false",
                    error, layer));
  free_matrices(&s);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=dgemv,n=600,outer=3,inner=1", "kind=dgemv,n=600,outer=3,inner=8",
                                        "kind=dgemm,n=256,outer=3,inner=1", "kind=dgemm,n=256,outer=3,inner=8"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  load_mkl();
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
