#include "faces/openmp/affinity_format.h"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <unistd.h>

#include "base/panic.h"
#include "core/sync/mutex.h"
#include "faces/openmp/league.h"
#include "faces/openmp/member.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/places.h"
#include "faces/openmp/region.h"
#include "faces/openmp/team.h"
#include "os/cpus.h"

namespace weft::openmp {
namespace {

struct Format {
  const char* text;
  std::size_t length;
};

constexpr char gnu_default[] = "level %L thread %i affinity %A";
constexpr char llvm_default[] = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";
struct OwnedFormat {
  char* text;
  std::size_t length;
};
core::Mutex format_mutex;                // guards the next
OwnedFormat current_format{nullptr, 0};  // nullptr: nobody has set it

/// format_mutex is held.
Format format_for(Dialect dialect) {
  if (current_format.text != nullptr) return {current_format.text, current_format.length};
  if (dialect == Dialect::llvm) return {llvm_default, sizeof llvm_default - 1};
  return {gnu_default, sizeof gnu_default - 1};
}

/// One %-field of a format, as it was written.
struct Field {
  bool leading_zero = false;
  bool right_justified = false;
  std::size_t width = 0;
  char type = '\0';  // the short name; NUL: none that is known
};

struct LongName {
  const char* name;
  char type;
};
constexpr LongName long_names[] = {
    {"team_num", 't'},         {"num_teams", 'T'},       {"nesting_level", 'L'}, {"thread_num", 'n'},
    {"num_threads", 'N'},      {"ancestor_tnum", 'a'},   {"host", 'H'},          {"process_id", 'P'},
    {"native_thread_id", 'i'}, {"thread_affinity", 'A'},
};

/// What is left of a format.
struct Rest {
  const char* at;
  const char* end;
  char peek() const { return at < end ? *at : '\0'; }
  bool take(char letter) {
    if (peek() != letter) return false;
    ++at;
    return true;
  }
};

char read_long_name(Rest& rest) {
  const char* begin = rest.at;
  while (rest.at < rest.end && *rest.at != '}') ++rest.at;
  const auto length = static_cast<std::size_t>(rest.at - begin);
  if (!rest.take('}')) return '\0';
  for (const LongName& entry : long_names)
    if (strlen(entry.name) == length && memcmp(entry.name, begin, length) == 0) return entry.type;
  return '\0';
}

char read_short_name(Rest& rest) {
  const char letter = rest.peek();
  if (rest.at < rest.end) ++rest.at;
  for (const LongName& entry : long_names)
    if (entry.type == letter) return letter;
  return '\0';
}

/// After the `%`: [[0].][width] and a letter or {name}.
Field read_field(Rest& rest) {
  constexpr std::size_t widest = 1U << 20U;
  Field field;
  field.leading_zero = rest.take('0');
  field.right_justified = rest.take('.');
  for (; isdigit(static_cast<unsigned char>(rest.peek())); ++rest.at)
    if (field.width < widest) field.width = field.width * 10 + static_cast<std::size_t>(*rest.at - '0');
  field.type = rest.take('{') ? read_long_name(rest) : read_short_name(rest);
  return field;
}

void write_aligned(BoundedText& text, const Field& field, const char* value, std::size_t length) {
  const std::size_t padding = field.width > length ? field.width - length : 0;
  if (field.right_justified) text.repeat(' ', padding);
  text.put(value, length);
  if (!field.right_justified) text.repeat(' ', padding);
}

void write_number(BoundedText& text, const Field& field, long number) {
  char digits[24];
  const auto length = static_cast<std::size_t>(snprintf(digits, sizeof digits, "%ld", number));
  if (!field.leading_zero || !field.right_justified) return write_aligned(text, field, digits, length);
  const std::size_t sign = number < 0 ? 1 : 0;
  text.put(digits, sign);
  text.repeat('0', field.width > length ? field.width - length : 0);
  text.put(digits + sign, length - sign);
}

/// Those of the calling member's place, or where it may run otherwise.
os::CpuSet cpus_here() {
  if (!places.in_use()) return os::own_cpus();
  const unsigned place = place_of(this_member()).place;
  if (place != no_place) return places.sets[place];
  os::CpuSet cpus;
  for (unsigned each = 0; each < places.count; ++each) cpus.add(places.sets[each]);
  return cpus;
}

/// The member's CPUs, as `0-3,6`; LLVM's runtime makes a range of three or more.
std::size_t list_cpus(Dialect dialect, char* list, std::size_t size) {
  const int least_range = dialect == Dialect::llvm ? 2 : 1;
  BoundedText text(list, size);
  const os::CpuSet cpus = cpus_here();
  for (int cpu = cpus.next(0); cpu < os::CpuSet::most; cpu = cpus.next(cpu + 1)) {
    const int first = cpu;
    while (cpu + 1 < os::CpuSet::most && cpus.has(cpu + 1)) ++cpu;
    char range[32];
    const char* separator = text.length() == 0 ? "" : ",";
    const char dash = cpu - first < least_range ? ',' : '-';
    const int length = first == cpu ? snprintf(range, sizeof range, "%s%d", separator, first)
                                    : snprintf(range, sizeof range, "%s%d%c%d", separator, first, dash, cpu);
    text.put(range, static_cast<std::size_t>(length));
  }
  return text.length() < size ? text.length() : size;
}

void write_cpus(Dialect dialect, BoundedText& text, const Field& field) {
  char list[os::CpuSet::most * 5];
  write_aligned(text, field, list, list_cpus(dialect, list, sizeof list));
}

void write_host(BoundedText& text, const Field& field) {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
  write_aligned(text, field, name, strlen(name));
}

void write_thread_id(Dialect dialect, BoundedText& text, const Field& field) {
  if (dialect == Dialect::llvm) return write_number(text, field, gettid());
  char id[24];
  const auto self = static_cast<unsigned long>(pthread_self());
  write_aligned(text, field, id, static_cast<std::size_t>(snprintf(id, sizeof id, "0x%lx", self)));
}

// As the specification has it, and LLVM's runtime. (libgomp ends the program.)
void write_unknown(BoundedText& text) {
  constexpr char undefined[] = "undefined";
  text.put(undefined, sizeof undefined - 1);
}

void write_field(Dialect dialect, BoundedText& text, const Field& field) {
  const Member& member = this_member();
  const int level = static_cast<int>(level_of(member));
  switch (field.type) {
    case 't':
      return write_number(text, field, league_number());
    case 'T':
      return write_number(text, field, league_size());
    case 'L':
      return write_number(text, field, level);
    case 'n':
      return write_number(text, field, static_cast<long>(member.number));
    case 'N':
      return write_number(text, field, static_cast<long>(team_size(member)));
    case 'a':
      return write_number(text, field, ancestor_number(member, level - 1));
    case 'P':
      return write_number(text, field, getpid());
    case 'H':
      return write_host(text, field);
    case 'i':
      return write_thread_id(dialect, text, field);
    case 'A':
      return write_cpus(dialect, text, field);
    default:
      return write_unknown(text);
  }
}

template <class OnLetter, class OnField>
void read_format(const Format& format, OnLetter on_letter, OnField on_field) {
  Rest rest{format.text, format.text + format.length};
  while (rest.at < rest.end) {
    const char letter = *rest.at++;
    if (letter != '%' || rest.take('%'))
      on_letter(letter);
    else
      on_field(read_field(rest));
  }
}

void write_all(Dialect dialect, BoundedText& text, const Format& format) {
  read_format(
      format, [&](char letter) { text.put(letter); }, [&](const Field& field) { write_field(dialect, text, field); });
}

}  // namespace

void BoundedText::put(char letter) {
  if (length_ < size_) buffer_[length_] = letter;
  ++length_;
}

void BoundedText::put(const char* text, std::size_t length) {
  for (std::size_t index = 0; index < length; ++index) put(text[index]);
}

void BoundedText::repeat(char letter, std::size_t count) {
  if (length_ < size_) {
    const std::size_t room = size_ - length_;
    memset(buffer_ + length_, letter, count < room ? count : room);
  }
  length_ += count;
}

void BoundedText::terminate() {
  if (size_ != 0) buffer_[length_ < size_ ? length_ : size_ - 1] = '\0';
}

void BoundedText::pad() {
  if (length_ < size_) memset(buffer_ + length_, ' ', size_ - length_);
}

void reset_affinity_format() { new (&format_mutex) core::Mutex; }

void set_affinity_format(const char* format, std::size_t length) {
  auto* copy = static_cast<char*>(malloc(length + 1));
  if (copy == nullptr) base::panic("out of memory for the affinity format");
  memcpy(copy, format, length);
  format_mutex.lock();
  char* old = current_format.text;
  current_format = {copy, length};
  format_mutex.unlock();
  free(old);
}

void set_affinity_format(const char* format) { set_affinity_format(format, strlen(format)); }

bool is_affinity_format(const char* format) {
  bool all_known = true;
  read_format(
      {format, strlen(format)}, [](char) {}, [&](const Field& field) { all_known &= field.type != '\0'; });
  return all_known;
}

void write_affinity_format(Dialect dialect, BoundedText& text) {
  format_mutex.lock();
  const Format format = format_for(dialect);
  text.put(format.text, format.length);
  format_mutex.unlock();
}

std::size_t get_affinity_format(Dialect dialect, char* buffer, std::size_t size) {
  BoundedText text(buffer, size);
  write_affinity_format(dialect, text);
  text.terminate();
  return text.length();
}

void write_affinity(Dialect dialect, BoundedText& text, const char* format, std::size_t length) {
  if (format != nullptr && length != 0) return write_all(dialect, text, {format, length});
  format_mutex.lock();
  write_all(dialect, text, format_for(dialect));
  format_mutex.unlock();
}

namespace {

/// There is room for one letter more.
void show_line(Dialect dialect, char* line, std::size_t length) {
  line[length] = '\n';
  fwrite(line, 1, length + 1, dialect == Dialect::llvm ? stdout : stderr);
}

}  // namespace

void display_affinity(Dialect dialect, const char* format, std::size_t length) {
  char usual[1024];
  BoundedText text(usual, sizeof usual - 1);
  write_affinity(dialect, text, format, length);
  if (text.length() < sizeof usual) return show_line(dialect, usual, text.length());
  const std::size_t size = text.length();
  auto* line = static_cast<char*>(malloc(size + 1));
  if (line == nullptr) base::panic("out of memory for a line of affinity");
  BoundedText longer(line, size);
  write_affinity(dialect, longer, format, length);
  show_line(dialect, line, longer.length() < size ? longer.length() : size);
  free(line);
}

namespace {

std::size_t length_of(const char* format) { return format != nullptr ? strlen(format) : 0; }

}  // namespace

std::size_t capture_affinity(Dialect dialect, char* buffer, std::size_t size, const char* format) {
  BoundedText text(buffer, size);
  write_affinity(dialect, text, format, length_of(format));
  text.terminate();
  return text.length();
}

void display_affinity(Dialect dialect, const char* format) { display_affinity(dialect, format, length_of(format)); }

}  // namespace weft::openmp
