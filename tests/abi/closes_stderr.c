// A region, and then an end without stderr: closes_stderr [FILE]. With FILE all else is closed as well, and every
// number that a descriptor can have is that file's.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** arguments) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members += 1;
  if (members != 2) return 1;
  if (count == 1) return close(STDERR_FILENO);
  enum { numbers = 256 };
  for (int file = STDERR_FILENO; file < numbers; file++) close(file);
  for (int file = STDERR_FILENO + 1; file < numbers; file++) {
    if (open(arguments[1], O_WRONLY | O_CREAT, 0600) < 0) return 1;
  }
  return close(STDERR_FILENO);
}
