#include "base/environment.h"

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#include <unistd.h>
#include <utility>

namespace weft::base {
namespace {

bool is_space(char letter) { return isspace(static_cast<unsigned char>(letter)) != 0; }
bool continues_word(char letter) { return isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

}  // namespace

void ValueReader::skip_space() {
  while (is_space(*at_)) ++at_;
}

bool ValueReader::take(char symbol) {
  if (*at_ != symbol) return false;
  ++at_;
  skip_space();
  return true;
}

bool ValueReader::take_word(const char* word) {
  const std::size_t length = strlen(word);
  if (strncasecmp(at_, word, length) != 0 || continues_word(at_[length])) return false;
  at_ += length;
  skip_space();
  return true;
}

bool ValueReader::take_number(long& number, long least, long most) {
  char* end = nullptr;
  const int errno_before = std::exchange(errno, 0);  // nobody's call sets it to 0
  const long read = strtol(at_, &end, 10);
  const bool fits = std::exchange(errno, errno_before) == 0;
  if (!fits || end == at_ || read < least || read > most) return false;
  number = read;
  at_ = end;
  skip_space();
  return true;
}

int take_one_of(ValueReader& value, const char* const* words, int count) {
  int index = 0;
  while (index < count && !value.take_word(words[index])) ++index;
  return index;
}

bool read_number(ValueReader& value, long& number, long least, long most) {
  long read = 0;
  if (!value.take_number(read, least, most) || !value.at_end()) return false;
  number = read;
  return true;
}

bool read_size(ValueReader& value, std::size_t& bytes, std::size_t least, std::size_t most) {
  static const char* const units[] = {"b", "k", "m", "g", "t", "kb", "mb", "gb", "tb"};  // as LLVM's runtime takes them
  constexpr int unit_count = 9;
  constexpr int shifts[] = {0, 10, 20, 30, 40, 10, 20, 30, 40, 10};  // without a unit: KiB
  long number = 0;
  if (!value.take_number(number, 0, LONG_MAX)) return false;
  const int shift = shifts[take_one_of(value, units, unit_count)];
  const auto count = static_cast<std::size_t>(number);
  if (!value.at_end() || count > most >> shift || count << shift < least) return false;
  bytes = count << shift;
  return true;
}

namespace {

constexpr std::size_t longest_name = 64;  // of which all is compared

// How many letters must be put in, left out or replaced (Wagner and Fischer, "The String-to-String Correction Problem",
// 1974), by one row of the table.
unsigned distance(const char* from, std::size_t from_length, const char* to) {
  unsigned row[longest_name + 1];
  for (std::size_t column = 0; column <= from_length; ++column) row[column] = static_cast<unsigned>(column);
  for (; *to != '\0'; ++to) {
    unsigned diagonal = row[0]++;
    for (std::size_t column = 1; column <= from_length; ++column) {
      const unsigned replaced = diagonal + (from[column - 1] != *to ? 1 : 0);
      diagonal = row[column];
      const unsigned beside = (row[column] < row[column - 1] ? row[column] : row[column - 1]) + 1;
      row[column] = replaced < beside ? replaced : beside;
    }
  }
  return row[from_length];
}

bool is_one_of(const char* name, std::size_t length, const char* const* names, int count) {
  for (int index = 0; index < count; ++index)
    if (strncmp(name, names[index], length) == 0 && names[index][length] == '\0') return true;
  return false;
}

// What differs from the name in the fewest letters, about half of them at most, of a short name in one; nullptr:
// nothing is like it. All begin with the prefix.
const char* nearest(const char* name, std::size_t prefix, const char* const* names, int count) {
  constexpr unsigned most = 5;
  const std::size_t length = strlen(name) - prefix;
  unsigned limit = length < 4 ? 1 : static_cast<unsigned>(length + 1) / 2;
  if (limit > most) limit = most;
  const char* found = nullptr;
  for (int index = 0; index < count; ++index) {
    const unsigned far = distance(name + prefix, length, names[index] + prefix);
    if (far > limit || (far == limit && found != nullptr)) continue;
    limit = far;
    found = names[index];
  }
  return found;
}

}  // namespace

void name_unknown_variables(const char* prefix, const char* const* names, int count) {
  if (environ == nullptr) return;
  const std::size_t prefix_length = strlen(prefix);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (strncmp(*entry, prefix, prefix_length) != 0) continue;
    const std::size_t length = strcspn(*entry, "=");
    if (is_one_of(*entry, length, names, count)) continue;
    char name[longest_name + 1];
    snprintf(name, sizeof name, "%.*s", static_cast<int>(length), *entry);
    if (const char* known = nearest(name, prefix_length, names, count); known != nullptr)
      warn("%s: weft knows no such variable; is %s meant?", name, known);
    else
      warn("%s: weft knows no such variable", name);
  }
}

}  // namespace weft::base
