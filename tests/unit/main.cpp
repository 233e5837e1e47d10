// The unit tests of the core. WEFT_NUM_WORKERS and WEFT_IDENTITY choose what they run on; both are fixed
// for the life of the process.
#include "support.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  weft::test::configure_from_environment();
  return RUN_ALL_TESTS();
}
