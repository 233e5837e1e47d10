// Things dealt to boxes in order, as evenly as can be: iterations to threads, places to the members of a team.
#pragma once

namespace weft::openmp {

/// `items` dealt to `boxes`; the first ones get one more. U is unsigned.
template <class U>
struct EvenDeal {
  U each;
  U longer;  // boxes that get each + 1

  EvenDeal(U items, U boxes) : each(items / boxes), longer(items % boxes) {}
  U first_of(U box) const { return box * each + (box < longer ? box : longer); }
  U count_of(U box) const { return each + (box < longer ? 1 : 0); }
  U box_of(U item) const {
    const U in_longer = longer * (each + 1);
    return item < in_longer ? item / (each + 1) : longer + (item - in_longer) / each;
  }
};

}  // namespace weft::openmp
