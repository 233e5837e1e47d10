#include "faces/openmp/environment.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace weft::openmp {
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

}  // namespace weft::openmp
