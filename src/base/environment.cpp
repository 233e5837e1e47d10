#include "base/environment.h"

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <strings.h>

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
  errno = 0;
  const long read = strtol(at_, &end, 10);
  if (errno != 0 || end == at_ || read < least || read > most) return false;
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
  static const char* const units[] = {"b", "k", "m", "g", "t"};
  constexpr int unit_count = 5;
  long number = 0;
  if (!value.take_number(number, 0, LONG_MAX)) return false;
  const int index = take_one_of(value, units, unit_count);
  const int shift = 10 * (index == unit_count ? 1 : index);
  const auto count = static_cast<std::size_t>(number);
  if (!value.at_end() || count > most >> shift || count << shift < least) return false;
  bytes = count << shift;
  return true;
}

}  // namespace weft::base
