// Reading the value of an environment variable, piece by piece, as the environments of parallel programs are written:
// upper and lower case mean the same, and white space may stand around every piece.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "base/panic.h"

namespace weft::base {

/// A place in a value. Each take_*() moves past the piece and the white space after it if the piece is
/// there; if not, it returns false and what it read up to there is lost: the value makes no sense.
class ValueReader {
 public:
  explicit ValueReader(const char* value) : at_(value) { skip_space(); }

  bool at_end() const { return *at_ == '\0'; }
  bool take(char symbol);
  /// A whole word: `dynamic` is not the begin of `dynamics`.
  bool take_word(const char* word);
  /// A decimal number from `least` to `most`, sign allowed.
  bool take_number(long& number, long least, long most);

 private:
  void skip_space();
  const char* at_;
};

/// The index of the word of the list that comes next, taken; `count` if none of them does.
int take_one_of(ValueReader& value, const char* const* words, int count);

/// The whole value is one of the words; `index`: which.
template <int count>
bool read_one_of(ValueReader& value, const char* const (&words)[count], int& index) {
  index = take_one_of(value, words, count);
  return index < count && value.at_end();
}

/// The whole value is a number.
bool read_number(ValueReader& value, long& number, long least, long most);

/// The whole value is a size, in KiB or with b, k, m, g or t behind it.
bool read_size(ValueReader& value, std::size_t& bytes, std::size_t least, std::size_t most);

/// One line for each variable of the environment that begins with the prefix and is not in the list, which it names the
/// nearest of.
void name_unknown_variables(const char* prefix, const char* const* names, int count);

/// Reads a variable, if it is set. `read(ValueReader&)` says whether the whole value makes sense, and stores nothing if
/// it does not: then one line says what was expected, and `fallback` what is used instead.
template <class Read>
void read_variable(const char* name, const char* expected, const char* fallback, Read read) {
  const char* text = std::getenv(name);
  if (text == nullptr) return;
  ValueReader value(text);
  if (!read(value)) warn("%s=%s: expected %s; using the default %s", name, text, expected, fallback);
}

}  // namespace weft::base
