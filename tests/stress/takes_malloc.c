// In a program that is not position-independent the address of malloc() is then a jump of the program's own, for all
// who ask for it (tests/stress/CMakeLists.txt).
#include <stdlib.h>

void* (*address_of_malloc(void))(size_t);
void* (*address_of_malloc(void))(size_t) { return malloc; }
