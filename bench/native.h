// What the programs of the threading core share. Each is one pattern (techniques.c, fib.c, ...), built once for each
// library it is measured on: build/bench/bin/PATTERN-LIBRARY. The library comes in through one header of peers/, its
// back end, which is named by PEER_HEADER and defines
//
//   PEER_NAME, peer_symbol()            what is measured, and an address within it
//   PeerResult, PEER_END                what an entry function returns; its last statement
//   peer_start(config)                  starts the library as the keys of `config` say; fails for what it lacks
//   peer_main(body, argument)           runs body(argument) where units are created from
//   Unit, peer_create, peer_join        a unit; joining frees it
//   peer_create_many, peer_join_many    the same at once
//   peer_yield, peer_yield_to
//   PeerMutex, PeerCondition, PeerBarrier, and peer_mutex_init and so on
//
// Every config runs in a child process of its own, so that each can start its library with other settings. Keys that
// all back ends know: workers (1), stack (16384 bytes). A result's "operations" says what its samples are divided
// by.
#ifndef WEFT_BENCH_NATIVE_H
#define WEFT_BENCH_NATIVE_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { STACK_BYTES = 16384, MAX_WORKERS = 64 };

__attribute__((unused)) static int config_workers(const char* config) {
  const int workers = config_int(config, "workers", 1);
  if (workers < 1 || workers > MAX_WORKERS) fail("workers: 1 to %d", MAX_WORKERS);
  return workers;
}

// Fails with the name of the call where a library's call did not return 0.
__attribute__((unused)) static void succeed(int error, const char* call) {
  if (error != 0) fail("%s failed: error %d", call, error);
}
#define SUCCEED(call) succeed((call), #call)

#include PEER_HEADER

// The file that `symbol` was loaded from.
__attribute__((unused)) static const char* file_of(const void* symbol) {
  static char path[PATH_MAX];
  Dl_info info;
  if (!dladdr(symbol, &info) || !realpath(info.dli_fname, path)) strcpy(path, "unknown");
  return path;
}

__attribute__((unused)) static void print_native(const char* name, const char* config, double operations,
                                                 const Samples* samples, bool ok) {
  print_result_of(file_of(peer_symbol()), "us", name, config,
                  text("\"library\": \"%s\", \"operations\": %.0f", PEER_NAME, operations), samples, 0, ok, "");
}

typedef struct {
  const Options* options;
  const char* config;
} NativeRun;

typedef void (*NativeBody)(void* run);  // of a NativeRun

static void run_in_child(const Options* options, const char* config, NativeBody body) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    NativeRun run = {options, config};
    peer_start(config);
    peer_main(body, &run);
    fflush(stdout);
    _exit(0);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) fail("no child process");
  if (WIFSIGNALED(status)) raise(WTERMSIG(status));
  if (status != 0) exit(WEXITSTATUS(status));
}

__attribute__((unused)) static int run_native(const Options* options, NativeBody body) {
  for (int i = 0; i < options->configs; i++) run_in_child(options, options->config[i], body);
  return 0;
}

#endif
