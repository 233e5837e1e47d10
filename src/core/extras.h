// Unit-local values, by key: for units that were created one by one, and for roots.
#pragma once

#include <cstdint>

#include "core/unit.h"

namespace weft::core {

inline constexpr unsigned most_keys = 256;

struct Key {
  std::uint32_t index;
  std::uint32_t generation;
};

/// False: all keys are in use.
bool create_key(void (*destructor)(void*), Key& key);
/// False: there is no such key.
bool delete_key(Key key);

/// In a forked child.
void reset_keys();

enum class KeyAnswer { ok, no_such_key, no_memory, not_for_this_unit };
KeyAnswer set_value(Key key, void* value);
KeyAnswer get_value(Key key, void** value);

/// Whether the destructors of a free-standing unit's values run: it is at its end already, and cannot be cancelled.
bool ends_extras(const Unit& unit);

/// In a forked child: what forked, root or unit, on the worker `before`, goes on as this root, with its values. The end
/// of a unit's function ends that root from then on (end_forked()).
void inherit_extras(struct Worker& root, struct Worker& before, Unit& forked);
/// The same, where it was a free-standing unit without a worker.
void inherit_extras(struct Worker& root, Unit& forked);

/// Runs the destructors of the calling root's values, and forgets them.
void end_root_extras(struct Worker& worker);
/// The same without the destructors, of a root whose KLT is gone.
void forget_root_extras(struct Worker& worker);

}  // namespace weft::core
