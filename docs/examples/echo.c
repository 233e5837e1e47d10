#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft/io.h>
#include <weft/weft.h>

enum { CLIENTS = 100 };
static struct sockaddr_in server_address;

/* A unit for each connection: sends back what comes, until the other end closes. */
static void echo(void* argument) {
  int connection = *(int*)argument;
  char bytes[256];
  size_t count = 0;
  while (weft_read(connection, bytes, sizeof bytes, &count) == WEFT_OK && count > 0)
    weft_write(connection, bytes, count, &count);
  close(connection);
}

static void serve(void* argument) {
  int listener = *(int*)argument, connections[CLIENTS];
  void* arguments[CLIENTS];
  weft_unit* units[CLIENTS];
  for (int i = 0; i < CLIENTS; ++i) {
    weft_accept(listener, NULL, NULL, 0, &connections[i]); /* meanwhile the worker runs other units */
    arguments[i] = &connections[i];
    weft_unit_create(echo, arguments[i], NULL, &units[i]);
  }
  weft_unit_free_many(CLIENTS, units);
}

static void ask(void* argument) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  char answer[16] = "";
  size_t count = 0;
  weft_connect(fd, (const struct sockaddr*)&server_address, sizeof server_address);
  weft_write(fd, "hello", 5, &count);
  weft_timed_read(fd, answer, sizeof answer, 10ULL * 1000 * 1000 * 1000, &count);
  *(int*)argument = strcmp(answer, "hello") == 0;
  close(fd);
}

int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0), answered = 0, answers[CLIENTS];
  socklen_t length = sizeof server_address;
  weft_unit *server = NULL, *clients[CLIENTS];
  server_address.sin_family = AF_INET;
  server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener, (struct sockaddr*)&server_address, sizeof server_address);
  listen(listener, CLIENTS);
  getsockname(listener, (struct sockaddr*)&server_address, &length); /* the port that it was given */

  weft_init();
  weft_unit_create(serve, &listener, NULL, &server);
  for (int i = 0; i < CLIENTS; ++i) weft_unit_create(ask, &answers[i], NULL, &clients[i]);
  weft_unit_free_many(CLIENTS, clients);
  weft_unit_free(server);
  for (int i = 0; i < CLIENTS; ++i) answered += answers[i];
  printf("%d of %d were answered\n", answered, CLIENTS);

  size_t count = 0;
  close(listener);
  int error = weft_write(listener, "x", 1, &count);
  printf("a closed file: %s, %s\n", weft_error_name(error), weft_error_text(error));
  return weft_finalize();
}
