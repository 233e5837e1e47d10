// Pools, a scheduler over them, and workers that have it.
#pragma once

#include "random.h"

#include <weft/weft.h>

#include <memory>
#include <vector>

namespace native {

/// A pool of any order that goes with the access; MPMC: perhaps one of the program's own.
weft_pool* make_pool(Random& random, weft_access access);

/// A scheduler of any kind, or of the program's own.
class Scheduling {
 public:
  enum class May { run_any_technique, be_stateful, not_know_its_pools };
  Scheduling(Random& random, const std::vector<weft_pool*>& pools, May may);
  void free() const;

  weft_scheduler* handle = nullptr;
  bool stateless = true;
  bool knows_pools = true;

 private:
  struct Own;
  static void run(weft_scheduler* scheduler, void* own);
  std::shared_ptr<Own> own_;
};

class Place {
 public:
  Place(Random& random, std::vector<weft_pool*> pools, Scheduling::May may, unsigned workers);
  /// Whoever calls it runs elsewhere, and waits in the kernel.
  void close();

  std::vector<weft_pool*> pools;
  Scheduling scheduling;
  std::vector<weft_worker*> workers;
};

}  // namespace native
