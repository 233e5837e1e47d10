// libfork: coroutines, continuation-stealing. Keys: workers.
#ifndef WEFT_BENCH_PEERS_LIBFORK_H
#define WEFT_BENCH_PEERS_LIBFORK_H

#include <libfork/core.hpp>
#include <libfork/schedule.hpp>

#define PEER_NAME "libfork"

inline lf::lazy_pool* peer_pool;

// The library is all headers: what is in use is the program itself.
inline const void* peer_symbol() { return &peer_pool; }

inline void peer_start(const char* config) {
  peer_pool = new lf::lazy_pool(static_cast<std::size_t>(config_workers(config)));
}

inline void peer_main(void (*body)(void*), void* argument) { body(argument); }

#endif
