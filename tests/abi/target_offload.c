/* OMP_TARGET_OFFLOAD and OMP_DEFAULT_DEVICE: the program runs itself once for each case. */
#include "check.h"

#include <sys/wait.h>

enum { ROUTINES = 10 };

/* gcc 12's omp.h does not know these. */
typedef int ask_type(const void*, size_t, int);
typedef void* map_type(const void*, int);
typedef void* fill_type(void*, int, size_t, int);

/* A routine that has something to do with the memory of a device. */
static void call_routine(int which, int device) {
  char here[8] = "", there[8] = "";
  const size_t one[1] = {1}, none[1] = {0}, eight[1] = {8};
  const int host = omp_get_initial_device();
  switch (which) {
    case 0:
      omp_target_free(NULL, device);
      break;
    case 1:
      omp_target_is_present(here, device);
      break;
    case 2:
      ((ask_type*)dlsym(RTLD_DEFAULT, "omp_target_is_accessible"))(here, 1, device);
      break;
    case 3:
      ((map_type*)dlsym(RTLD_DEFAULT, "omp_get_mapped_ptr"))(here, device);
      break;
    case 4:
      omp_target_associate_ptr(here, there, 8, 0, device);
      break;
    case 5:
      omp_target_disassociate_ptr(here, device);
      break;
    case 6:
      omp_target_memcpy(here, there, 8, 0, 0, device, host);
      break;
    case 7:
      omp_target_memcpy_rect(here, there, 1, 1, one, none, none, eight, eight, host, device);
      break;
    case 8:
      omp_target_free(omp_target_alloc(8, device), device);
      break;
    default:
      ((fill_type*)dlsym(RTLD_DEFAULT, "omp_target_memset"))(here, 0, 8, device);
      break;
  }
}

static int run_construct(const char* what) {
  int ran = 0;
  if (strncmp(what, "routine", 7) == 0) {
    call_routine(what[7] - '0', atoi(what + 9));
    ran = 1;
  } else if (strcmp(what, "plain") == 0) {
#pragma omp target map(tofrom : ran)
    ran = 1;
  } else if (strcmp(what, "data") == 0) {
#pragma omp target data map(tofrom : ran)
    ran = 1;
  } else if (strcmp(what, "if") == 0) {
#pragma omp target if (what[0] == 'x') map(tofrom : ran)
    ran = 1;
  } else {
    const int device = atoi(what);
#pragma omp target device(device) map(tofrom : ran)
    ran = 1;
  }
  printf("ran %d\n", ran);
  return ran ? 0 : 9;
}

static int expect(const char* program, const char* environment, const char* what, int status) {
  char command[1024], line[256] = "";
  snprintf(command, sizeof command, "%s %s %s 2>&1", environment, program, what);
  FILE* output = popen(command, "r");
  if (output == NULL) return 1;
  int lines = 0;
  char next[256];
  while (fgets(next, sizeof next, output) != NULL)
    if (next[0] != '\n') {
      memcpy(line, next, sizeof line);
      ++lines;
    }
  const int ended = pclose(output);
  const int got = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1000;
  const int good = got == status && lines == 1 && (status == 0) == (strcmp(line, "ran 1\n") == 0) &&
                   (status == 0 || strstr(line, "MANDATORY") || strstr(line, "mandatory") || strstr(line, "invalid"));
  if (!good) fprintf(stderr, "%s %s: exit status %d, %d lines, the last: %s\n", environment, what, got, lines, line);
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  check_runtime();
  if (argc > 1) return run_construct(argv[1]);
  const int weft = getenv("CHECK_RUNTIME") != NULL;
  int wrong = 0;
  for (int i = 0; i < 3; ++i) {
    static const char* const kinds[] = {"", "OMP_TARGET_OFFLOAD=default", "OMP_TARGET_OFFLOAD=DISABLED"};
    wrong += expect(argv[0], kinds[i], "plain", 0);
    wrong += expect(argv[0], kinds[i], "data", 0);
    wrong += expect(argv[0], kinds[i], "0", 0);
    wrong += expect(argv[0], kinds[i], "7", 0);
  }
  static const char mandatory[] = "OMP_TARGET_OFFLOAD=mandatory";
  wrong += expect(argv[0], mandatory, "7", 1);
  wrong += expect(argv[0], mandatory, "if", 0);
  wrong += expect(argv[0], "OMP_DEFAULT_DEVICE=3", "plain", 0);
  wrong += expect(argv[0], "OMP_TARGET_OFFLOAD=mandatory OMP_DEFAULT_DEVICE=3", "plain", 1);
  wrong += expect(argv[0], mandatory, "0", 0);
  if (weft) { /* libgomp 12 keeps to OpenMP 5.1, in which the default device is 0, here the host, also then */
    wrong += expect(argv[0], mandatory, "plain", 1);
    wrong += expect(argv[0], mandatory, "data", 1);
    wrong += expect(argv[0], "OMP_TARGET_OFFLOAD=mandatory OMP_DEFAULT_DEVICE=0", "plain", 0);
    wrong += expect(argv[0], "", "-4", 1);
    for (int which = 0; which < ROUTINES; ++which) { /* nor do its routines heed it */
      char what[32];
      snprintf(what, sizeof what, "routine%d:7", which);
      wrong += expect(argv[0], mandatory, what, 1);
      if (which != ROUTINES - 1) wrong += expect(argv[0], "", what, 0); /* omp_target_memset says that there is none */
      snprintf(what, sizeof what, "routine%d:0", which);
      wrong += expect(argv[0], mandatory, what, 0);
      snprintf(what, sizeof what, "routine%d:-4", which);
      wrong += expect(argv[0], "", what, 1);
    }
  }
  return wrong != 0;
}
