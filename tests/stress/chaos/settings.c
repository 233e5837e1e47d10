#include "settings.h"

#include "kinds.h"
#include "where.h"

struct Settings settings = {.seed = 1,
                            .repeat = 1,
                            .roots = -1,
                            .members = most_members,
                            .depth = 3,
                            .signals = -1,
                            .meetings = -1,
                            .leave = -1,
                            .bits = 31};

static const struct {
  const char* name;
  int* value;
  int least, most;
} numbers[] = {
    {"--roots", &settings.roots, -1, most_roots},   {"--members", &settings.members, 1, most_members},
    {"--depth", &settings.depth, 0, 100},           {"--steps", &settings.steps, 0, most_steps},
    {"--rounds", &settings.rounds, 0, most_rounds}, {"--signals", &settings.signals, -1, 1},
    {"--meetings", &settings.meetings, -1, 1},      {"--leave", &settings.leave, -1, 1},
    {"--repeat", &settings.repeat, 1, 1000000},     {"--bits", &settings.bits, 0, 31},
};

__attribute__((noreturn)) static void refuse(const char* argument) {
  fprintf(stderr, "what is %s? The options are in tests/stress/chaos/main.c\n", argument);
  exit(2);
}

static void read_number(const char* argument) {
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const size_t length = strlen(numbers[i].name);
    if (strncmp(argument, numbers[i].name, length) != 0 || argument[length] != '=') continue;
    char* end;
    const long value = strtol(argument + length + 1, &end, 10);
    if (*end || value < numbers[i].least || value > numbers[i].most) break;
    *numbers[i].value = (int)value;
    return;
  }
  refuse(argument);
}

void read_settings(int count, char** arguments) {
  for (int i = 1; i < count; i++) {
    const char* a = arguments[i];
    if (strncmp(a, "--only=", 7) == 0) {
      only_kinds(a + 7);
    } else if (strncmp(a, "--without=", 10) == 0) {
      without_kinds(a + 10);
    } else if (strcmp(a, "--gentle") == 0) {
      without_kinds("spin,kernel,makes_thread");
    } else if (strcmp(a, "--plan") == 0) {
      settings.plan = 1;
    } else if (strcmp(a, "--list") == 0) {
      list_kinds();
      exit(0);
    } else if (a[0] == '-') {
      read_number(a);
    } else {
      char* end;
      settings.seed = strtoul(a, &end, 10);
      if (*end) refuse(a);
    }
  }
}
