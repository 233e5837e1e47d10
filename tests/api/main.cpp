// The tests of libweft.so through its C API, as a program that links with it sees it. WEFT_NUM_WORKERS chooses what
// they run on; weft reads it itself.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  return RUN_ALL_TESTS();
}
