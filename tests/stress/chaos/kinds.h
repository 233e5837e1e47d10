// Which steps there are, and which of them is drawn.
#ifndef WEFT_TESTS_STRESS_CHAOS_KINDS_H
#define WEFT_TESTS_STRESS_CHAOS_KINDS_H

#include "step.h"

// Only those that are on are drawn then; else one that is off leaves a gap, so that the rest of a seed stays.
extern int only_some;

// NULL: nothing is done, because the kind is off, or would go too deep.
const struct Kind* draw_kind(uint64_t seed, int depth);

// names: of kinds and of classes, separated by commas.
void only_kinds(const char* names);
void without_kinds(const char* names);

// No kind of this class alone is on.
int class_is_off(int class);

void list_kinds(void);

#endif
