// src/os/code_table.h: what is looked up while it is written down anew.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "os/code_table.h"
#include "support.h"

namespace weft::test {
namespace {

using os::CodeRange;
using os::CodeTable;
using Found = CodeTable::Found;

TEST(CodeTable, KnowsNothingBeforeItIsTold) {
  CodeTable table;
  EXPECT_EQ(table.find(100), Found::not_known);
  table.replace(nullptr, 0);
  EXPECT_EQ(table.find(100), Found::nothing);
}

TEST(CodeTable, FindsWhatItWasToldLast) {
  CodeTable table;
  const CodeRange before[] = {{100, 200, false}, {300, 400, true}};
  table.replace(before, 2);
  EXPECT_EQ(table.find(99), Found::nothing);
  EXPECT_EQ(table.find(100), Found::runtime);
  EXPECT_EQ(table.find(199), Found::runtime);
  EXPECT_EQ(table.find(200), Found::nothing);
  EXPECT_EQ(table.find(300), Found::weft);
  for (int round = 0; round < 3; ++round) table.replace(before + 1, 1);
  EXPECT_EQ(table.find(100), Found::nothing);
  EXPECT_EQ(table.find(300), Found::weft);
}

TEST(CodeTable, KeepsAsManyAsItCan) {
  CodeTable table;
  std::vector<CodeRange> ranges;
  for (std::uintptr_t index = 0; index < 2 * CodeTable::most_ranges; ++index)
    ranges.push_back({100 * index, 100 * index + 50, false});
  table.replace(ranges.data(), static_cast<unsigned>(ranges.size()));
  EXPECT_EQ(table.find(100 * (CodeTable::most_ranges - 1)), Found::runtime);
  EXPECT_EQ(table.find(100 * CodeTable::most_ranges), Found::nothing);
}

// Bug: replaced twice while it was being read, a table was empty, and what is always in it was not found.
TEST(CodeTable, IsReadWholeWhileItChanges) {
  constexpr CodeRange always{1000, 2000, true};
  constexpr std::uintptr_t elsewhere = 5000;
  CodeTable table;
  table.replace(&always, 1);
  std::atomic<bool> over{false};
  std::atomic<unsigned> wrong{0};
  std::vector<std::thread> readers;
  for (int number = 0; number < 2; ++number)
    readers.emplace_back([&] {
      while (!over) {
        const Found found = table.find(1500);
        const Found other = table.find(3500);
        if ((found != Found::weft && found != Found::not_known) || other == Found::weft) ++wrong;
      }
    });
  CodeRange ranges[CodeTable::most_ranges];
  for (unsigned round = 0; round < scaled(500'000); ++round) {
    const unsigned count = 1 + round % CodeTable::most_ranges;
    for (unsigned index = 0; index < count; ++index)
      ranges[index] = {elsewhere + 10 * (round + index), elsewhere + 10 * (round + index) + 5, false};
    ranges[round / 2 % count] = always;
    if (count > 1) ranges[(round / 2 + 1) % count] = {3000, 4000, false};
    table.replace(ranges, count);
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0U);
}

}  // namespace
}  // namespace weft::test
