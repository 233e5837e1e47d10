// The threads that the program makes.
#ifndef WEFT_TESTS_STRESS_CHAOS_THREADS_H
#define WEFT_TESTS_STRESS_CHAOS_THREADS_H

#include <pthread.h>

pthread_t start(void* (*function)(void*), void* argument);

// The last that a thread says which was made by start().
void thread_ends(void);

// Until all have said so, the detached ones too.
void wait_for_threads(void);

#endif
