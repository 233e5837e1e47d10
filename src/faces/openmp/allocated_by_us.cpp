#include "faces/openmp/allocated_by_us.h"

#include <cstdlib>
#include <new>

#include "base/hash.h"
#include "base/panic.h"
#include "core/sync/mutex.h"

namespace weft::openmp {
namespace {

struct Note {
  const void* block;
  Note* next;
};

constexpr unsigned bits = 8;
core::Mutex mutex;  // guards the table
Note* table[1U << bits];

Note** place_of(const void* block) {
  Note** link = &table[base::place_of_address(block, bits)];
  while (*link != nullptr && (*link)->block != block) link = &(*link)->next;
  return link;
}

}  // namespace

void reset_allocated_notes() { new (&mutex) core::Mutex; }

void note_allocated(const void* block) {
  if (block == nullptr) return;
  auto note = static_cast<Note*>(std::malloc(sizeof(Note)));
  if (note == nullptr) base::panic("no memory for allocators");
  mutex.lock();
  Note** link = place_of(block);
  if (*link == nullptr) {
    *note = {block, nullptr};
    *link = note;
    note = nullptr;
  }
  mutex.unlock();
  std::free(note);
}

bool take_allocated_note(const void* block) {
  mutex.lock();
  Note** link = place_of(block);
  Note* note = *link;
  if (note != nullptr) *link = note->next;
  mutex.unlock();
  std::free(note);
  return note != nullptr;
}

}  // namespace weft::openmp
