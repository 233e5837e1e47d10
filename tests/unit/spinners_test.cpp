// src/core/spinners.h: what a handler finds in the registers, with registers that are made up.
#include "core/spinners.h"

#include <gtest/gtest.h>
#include <ucontext.h>

namespace weft::test {
namespace {

using core::Doing;

class Spinners : public ::testing::Test {
 protected:
  Spinners() {
    context_.uc_mcontext.fpregs = &vectors_;
    for (int index = 0; index < NGREG; ++index) context_.uc_mcontext.gregs[index] = 1000 + index;
  }

  Doing is_interrupted(const core::Unit& unit) {
    os::Interruption interruption{};
    interruption.context = &context_;
    return core::what_it_does(unit, interruption);
  }
  auto& general(int index) { return context_.uc_mcontext.gregs[index]; }

  core::WholeUnit unit_;
  core::WholeUnit other_;
  ucontext_t context_{};
  std::remove_pointer_t<fpregset_t> vectors_{};
};

TEST_F(Spinners, AreAsTheyWereTheTimeBefore) {
  EXPECT_NE(is_interrupted(unit_), Doing::spins) << "for the first time";
  EXPECT_EQ(is_interrupted(unit_), Doing::spins);
  EXPECT_EQ(is_interrupted(unit_), Doing::spins);
}

TEST_F(Spinners, MayBeAnywhereInTheirLoopAndCount) {
  is_interrupted(unit_);
  for (int round = 0; round < 100; ++round) {
    general(REG_RIP) += 4;
    general(REG_EFL) ^= 1;
    ++general(REG_RCX);
    EXPECT_EQ(is_interrupted(unit_), Doing::spins) << round;
  }
}

TEST_F(Spinners, ChangeNoVectorRegister) {
  is_interrupted(unit_);
  vectors_._xmm[7].element[2] ^= 1;
  EXPECT_EQ(is_interrupted(unit_), Doing::computes);
  EXPECT_EQ(is_interrupted(unit_), Doing::spins);
}

TEST_F(Spinners, ChangeAtMostOneOfTheOthers) {
  is_interrupted(unit_);
  for (int round = 0; round < 1000; ++round) {
    general(REG_RAX) += 12345;
    ++general(REG_R12);
    EXPECT_EQ(is_interrupted(unit_), Doing::may_spin) << round;
  }
}

TEST_F(Spinners, AreToldApart) {
  for (int round = 0; round < 3; ++round) {
    const bool is_known = round > 0;
    general(REG_RAX) = general(REG_RBX) = 1;
    EXPECT_EQ(is_interrupted(unit_) == Doing::spins, is_known);
    general(REG_RAX) = general(REG_RBX) = 2;
    EXPECT_EQ(is_interrupted(other_) == Doing::spins, is_known);
  }
}

}  // namespace
}  // namespace weft::test
