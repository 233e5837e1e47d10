// src/core/spinners.h: what a handler finds in the registers, with registers that are made up.
#include "core/spinners.h"

#include <gtest/gtest.h>
#include <ucontext.h>

namespace weft::test {
namespace {

class Spinners : public ::testing::Test {
 protected:
  Spinners() {
    context_.uc_mcontext.fpregs = &vectors_;
    for (int index = 0; index < NGREG; ++index) context_.uc_mcontext.gregs[index] = 1000 + index;
  }

  bool is_interrupted(const core::Unit& unit) {
    os::Interruption interruption{};
    interruption.context = &context_;
    return core::is_spinner(unit, interruption);
  }
  auto& general(int index) { return context_.uc_mcontext.gregs[index]; }

  core::WholeUnit unit_;
  core::WholeUnit other_;
  ucontext_t context_{};
  std::remove_pointer_t<fpregset_t> vectors_{};
};

TEST_F(Spinners, AreAsTheyWereTheTimeBefore) {
  EXPECT_FALSE(is_interrupted(unit_)) << "for the first time";
  EXPECT_TRUE(is_interrupted(unit_));
  EXPECT_TRUE(is_interrupted(unit_));
}

TEST_F(Spinners, MayBeAnywhereInTheirLoopAndCount) {
  is_interrupted(unit_);
  for (int round = 0; round < 100; ++round) {
    general(REG_RIP) += 4;
    general(REG_EFL) ^= 1;
    ++general(REG_RCX);
    EXPECT_TRUE(is_interrupted(unit_)) << round;
  }
}

TEST_F(Spinners, ChangeNoVectorRegister) {
  is_interrupted(unit_);
  vectors_._xmm[7].element[2] ^= 1;
  EXPECT_FALSE(is_interrupted(unit_));
  EXPECT_TRUE(is_interrupted(unit_));
}

TEST_F(Spinners, ChangeAtMostOneOfTheOthers) {
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    general(REG_RAX) += 12345;
    ++general(REG_R12);
    found += is_interrupted(unit_) ? 1 : 0;
  }
  EXPECT_LE(found, 5) << "of 1000 are taken for spinners that are none";
}

TEST_F(Spinners, AreToldApart) {
  for (int round = 0; round < 3; ++round) {
    general(REG_RAX) = general(REG_RBX) = 1;
    EXPECT_EQ(is_interrupted(unit_), round > 0);
    general(REG_RAX) = general(REG_RBX) = 2;
    EXPECT_EQ(is_interrupted(other_), round > 0);
  }
}

}  // namespace
}  // namespace weft::test
