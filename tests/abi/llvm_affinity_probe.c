/* What LLVM's runtime writes of affinity: fields, and which regions are displayed. llvm_affinity_test.py compares. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static void capture(const char* format) {
  char text[256];
  memset(text, '#', sizeof text);
  const size_t length = omp_capture_affinity(text, sizeof text, format);
  printf("%s: %zu [%s]\n", format, length, text);
}

static void fields(void) {
  static const char* const formats[] = {"%%",
                                        "a%%b",
                                        "%{host}x",
                                        "%5n|",
                                        "%.5n|",
                                        "%0.5n|",
                                        "%05n|",
                                        "%0n|",
                                        "%.n|",
                                        "%{thread_num",
                                        "%{}",
                                        "%{foobar}|",
                                        "%10{foobar}|",
                                        "%X|",
                                        "%.10X|",
                                        "%-5n|",
                                        "%A|",
                                        "%20A|",
                                        "%.20A|",
                                        "%0.20A|",
                                        "%a %L %t %T %N %n",
                                        "% n",
                                        "%5%|",
                                        "%0.3a|",
                                        "%3a|",
                                        "%.3a|",
                                        "plain",
                                        "%{team_num}/%{num_teams} %{nesting_level} %{ancestor_tnum}",
                                        "%{thread_num}/%{num_threads} on %{thread_affinity}"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) capture(formats[i]);
  char text[8];
  for (size_t size = 0; size <= 5; ++size) {
    text[0] = '\0';
    const size_t length = omp_capture_affinity(text, size, "abcd");
    printf("into %zu: %zu [%s]\n", size, length, text);
  }
  char format[128];
  const size_t length = omp_get_affinity_format(format, sizeof format);
  printf("format: %zu [%s]\n", length, format);
}

/* Numbers of the process and its threads differ from run to run; that they are there does not. */
static void identifiers(void) {
  char text[128], expected[128];
  omp_capture_affinity(text, sizeof text, "%P %i");
  int process, thread;
  const int count = sscanf(text, "%d %d", &process, &thread);
  snprintf(expected, sizeof expected, "%d %d", process, thread);
  printf("identifiers: %d, %d\n", count, strcmp(text, expected));
}

/* Sizes that 2 places divide: what is left over goes where the runtime likes. */
static void regions(void) {
  omp_display_affinity("%L %1000n|%1000N|%A"); /* longer than a line usually is */
  omp_set_affinity_format("%L %a %n/%N %A");
  static const int sizes[] = {4, 4, 6, 6, 2, 1, 1, 2};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
#pragma omp parallel num_threads(sizes[i])
    {}
  }
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel num_threads(4)
    {
#pragma omp parallel num_threads(2)
      {}
#pragma omp parallel num_threads(2)
      {
      }
    }
  }
#pragma omp parallel num_threads(1)
  {
#pragma omp parallel num_threads(1)
      {}
#pragma omp parallel num_threads(2)
      {}
#pragma omp parallel if (0)
      {}}
#pragma omp parallel num_threads(2) proc_bind(spread)
  {}
#pragma omp parallel num_threads(2) proc_bind(master)
  {}
#pragma omp parallel num_threads(2) proc_bind(master)
  {}
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    omp_display_affinity("said by %n");
  }
}

int main(void) {
  omp_set_max_active_levels(2);
  fields();
  identifiers();
  regions();
  return 0;
}
