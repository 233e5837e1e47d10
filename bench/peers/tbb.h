// oneTBB: tasks, which start on the waiting thread's stack and cannot yield. Keys: workers.
#ifndef WEFT_BENCH_PEERS_TBB_H
#define WEFT_BENCH_PEERS_TBB_H

#include <tbb/global_control.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#define PEER_NAME "tbb"

inline const void* peer_symbol() { return reinterpret_cast<const void*>(&TBB_runtime_version); }

inline void peer_start(const char* config) {
  static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                         static_cast<std::size_t>(config_workers(config)));
}

inline void peer_main(void (*body)(void*), void* argument) { body(argument); }

#endif
