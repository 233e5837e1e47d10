// What the command line says of a run. -1: the seed decides.
#ifndef WEFT_TESTS_STRESS_CHAOS_SETTINGS_H
#define WEFT_TESTS_STRESS_CHAOS_SETTINGS_H

enum { most_members = 12, most_steps = 8, most_roots = 8, most_rounds = 4 };

struct Settings {
  unsigned long seed;
  int repeat;    // seeds one after the other
  int roots;     // threads of the program that go through regions, round after round
  int members;   // at most, in each region
  int depth;     // of regions and threads within each other
  int steps;     // of outer regions; 0: the seed decides
  int rounds;    // 0: the seed decides
  int signals;   // a SIGALRM each millisecond
  int meetings;  // all members of all roots wait for each other at the end of a round
  int leave;     // a thread is left in its regions when the process ends
  int bits;      // which small pieces of work there are (bits.h)
  int plan;      // say which regions there are
};

extern struct Settings settings;

void read_settings(int count, char** arguments);

#endif
