// The checks of check.h, which here say besides in which seed and step one failed.
#ifndef WEFT_TESTS_STRESS_CHAOS_WHERE_H
#define WEFT_TESTS_STRESS_CHAOS_WHERE_H

extern unsigned long seed_of_run;
extern _Thread_local const char* step_here;  // the step of this member, for messages alone

// Called before each step; and the kernel thread of a member that did.
void note_thread(void);
int last_thread(void);

// "seed 7, step turns: "
const char* where(void);

#define CHECK_CONTEXT where()
#include "../check.h"

#endif
