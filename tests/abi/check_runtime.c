/* What the Fortran tests need from C: check_runtime() of check.h. */
#include "check.h"

void check_runtime_f(void);
void check_runtime_f(void) { check_runtime(); }
