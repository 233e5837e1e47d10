// Random programs on the native API: for a seed, units of all techniques and roots that go through randomly drawn steps
// at the same time, in pools of all kinds, under schedulers of weft's and of their own, on workers that come and go.
// The seed says what is done, and the machine when. Each step follows what the headers promise, and checks it: a unit
// runs once for each creation or revival, what is counted under a lock is exact, nobody passes a barrier early, values
// arrive, who joins sees what the other wrote, and in the end nothing is left. A program that does not end says where
// everybody is. Sequences of calls by one thread, and wrong arguments, are tests/fuzz's.
//
//   native SEED [COUNT] [--repeat=N] [--seconds=N] [--only=STEP,...] [--without=STEP,...]
//
// COUNT seeds one after the other, each N times. It hangs when no unit has begun or ended for so many seconds (60, or
// 300 with a sanitizer). The names of steps are those in step.cpp; without some, the rest of the program is another.
// WEFT_NUM_WORKERS is read by weft. STRESS_ABORT=1: a failure ends with a core.
#include "check.h"
#include "program.h"
#include "step.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Settings {
  std::uint64_t seed = 0;
  unsigned long count = 1;
  unsigned long repeat = 1;
  unsigned seconds = native::sanitized ? 300 : 60;
  std::string command;
};

[[noreturn]] void misuse(const char* argument) {
  std::fprintf(stderr,
               "native: what is '%s'? SEED [COUNT] [--repeat=N] [--seconds=N] [--only=STEP,...] [--without=STEP,...]\n",
               argument);
  std::exit(2);
}

unsigned long read_number(const char* text) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 10);
  if (end == text || *end != '\0') misuse(text);
  return number;
}

void read_option(const char* argument, Settings& settings) {
  const char* value = std::strchr(argument, '=');
  if (value == nullptr) misuse(argument);
  const std::string name(argument, ++value);
  if (name == "--repeat=")
    settings.repeat = read_number(value);
  else if (name == "--seconds=")
    settings.seconds = static_cast<unsigned>(read_number(value));
  else if ((name != "--only=" && name != "--without=") || !native::choose_steps(value, name == "--only="))
    misuse(argument);
  settings.command += std::string(" ") + argument;
}

Settings read_settings(int count, char** arguments) {
  Settings settings;
  const char* workers = std::getenv("WEFT_NUM_WORKERS");
  if (workers != nullptr) settings.command = std::string("WEFT_NUM_WORKERS=") + workers + " ";
  settings.command += arguments[0];
  int numbers = 0;
  for (int i = 1; i < count; ++i) {
    if (arguments[i][0] == '-')
      read_option(arguments[i], settings);
    else if (++numbers == 1)
      settings.seed = read_number(arguments[i]);
    else
      settings.count = read_number(arguments[i]);
  }
  if (numbers < 1 || numbers > 2) misuse("that");
  return settings;
}

long run_seed(const Settings& settings, std::uint64_t seed) {
  long units = 0;
  for (unsigned long i = 0; i < settings.repeat; ++i) {
    native::watch_seed(seed, settings.command.c_str());
    units += native::run_program(seed);
  }
  return units;
}

}  // namespace

int main(int count, char** arguments) {
  const Settings settings = read_settings(count, arguments);
  native::name_seed_of_death();
  native::start_watchdog(settings.seconds);
  long units = 0;
  for (unsigned long i = 0; i < settings.count; ++i) units += run_seed(settings, settings.seed + i);
  native::stop_watchdog();
  std::printf("%lu seeds, %ld units\n", settings.count, units);
  return 0;
}
