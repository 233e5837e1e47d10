#include "faces/openmp/hardware_subset.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "base/panic.h"
#include "faces/openmp/hardware.h"
#include "os/cpus.h"

namespace weft::openmp {

using base::ValueReader;
using os::CpuSet;

constinit HardwareSubset hardware_subset;

namespace {

constexpr const char* name = "KMP_HW_SUBSET";

/// Of each part of the layer outside it, `count` parts from number `offset` on.
struct Request {
  bool listed = false;
  unsigned count = CpuSet::most;
  unsigned offset = 0;
  bool all = true;
};

struct Requests {
  Request of[layer_count];
};

bool read_request(ValueReader& value, const Hardware& hardware, Requests& requests) {
  Request request{.listed = true};
  long number = 0;
  if (!value.take('*')) {
    if (!value.take_number(number, 1, CpuSet::most)) return false;
    request.count = static_cast<unsigned>(number);
    request.all = false;
  }
  unsigned layer = 0;
  if (!take_layer(value, layer)) return false;
  if (value.take('@')) {
    if (!value.take_number(number, 0, CpuSet::most - 1)) return false;
    request.offset = static_cast<unsigned>(number);
  }
  if (layer == last_cache) layer = existing_layer(hardware, last_cache);
  if (!hardware.has[layer] || requests.of[layer].listed) return false;
  requests.of[layer] = request;
  return true;
}

bool read_requests(ValueReader& value, const Hardware& hardware, Requests& requests) {
  const bool only_listed = value.take(':');
  do
    if (!read_request(value, hardware, requests)) return false;
  while (value.take(','));
  if (!only_listed) requests.of[of_package].listed = requests.of[of_core].listed = requests.of[of_thread].listed = true;
  return value.at_end();
}

/// 2cx1t is another way to write 2c,1t.
void use_commas(char* text) {
  for (char* at = text; *at != '\0'; ++at)
    if ((*at == 'x' || *at == 'X') && (isdigit(static_cast<unsigned char>(at[1])) != 0 || at[1] == '*')) *at = ',';
}

bool same_part(const HardwareThread& one, const HardwareThread& other, unsigned layer) {
  return layer == layer_count || one.part[layer] == other.part[layer];
}

/// Leaves what is asked for of one layer; `outer` is the listed one outside it (layer_count: the machine). False: some
/// part of that has fewer.
bool select(const Hardware& hardware, unsigned layer, unsigned outer, const Request& request, CpuSet& cpus) {
  unsigned number = 0;
  for (unsigned index = 0; index < hardware.count; ++index) {
    const HardwareThread& thread = hardware.threads[index];
    const bool first = index == 0 || !same_part(thread, hardware.threads[index - 1], outer);
    if (first)
      number = 0;
    else if (!same_part(thread, hardware.threads[index - 1], layer))
      ++number;
    if (number < request.offset || number - request.offset >= request.count) cpus.remove(thread.cpu);
    const bool last = index + 1 == hardware.count || !same_part(thread, hardware.threads[index + 1], outer);
    if (last && number + 1 < request.offset + (request.all ? 1 : request.count)) return false;
  }
  return true;
}

bool select_all(const Hardware& hardware, const Requests& requests, CpuSet& cpus) {
  for (unsigned index = 0; index < hardware.count; ++index) cpus.add(hardware.threads[index].cpu);
  unsigned outer = layer_count;
  for (unsigned layer = 0; layer < layer_count; ++layer) {
    if (!requests.of[layer].listed) continue;
    if (!select(hardware, layer, outer, requests.of[layer], cpus)) return false;
    outer = layer;
  }
  return cpus.count() != 0;
}

}  // namespace

void read_hardware_subset() {
  const char* text = getenv(name);
  if (text == nullptr) return;
  const Hardware hardware;
  Requests requests;
  CpuSet cpus;
  char* copy = strdup(text);
  if (copy == nullptr) base::panic("no memory to read %s", name);
  use_commas(copy);
  ValueReader value(copy);
  const bool understood = read_requests(value, hardware, requests);
  free(copy);
  if (!understood)
    return base::warn(
        "%s=%s: expected NUMBER or *, then s, n, d, ll, l3, l2, l1, c or t as far as the machine has them, each "
        "once, then @OFFSET or nothing; with commas between, as 1s,2c@1,1t; using all processors",
        name, text);
  if (!select_all(hardware, requests, cpus))
    return base::warn("%s=%s: the machine, as far as the process may use it, has fewer; using all processors", name,
                      text);
  if (!hardware.foreign && !os::bind_this_klt(cpus))
    return base::warn("%s=%s: the system does not let the process use these; using all processors", name, text);
  hardware_subset.given = true;
  hardware_subset.cpus = cpus;
}

}  // namespace weft::openmp
