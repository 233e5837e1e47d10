// Reading the value of an environment variable, piece by piece, as OpenMP writes them: upper and
// lower case mean the same, and white space may stand around every piece (OpenMP 5.2, section 21).
#pragma once

namespace weft::openmp {

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

}  // namespace weft::openmp
