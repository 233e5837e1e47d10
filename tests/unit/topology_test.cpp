// src/os/topology.h, cpu_set.h, pages.h, and binding to sets of CPUs. The machine is one of hwloc's synthetic ones.
#include "os/topology.h"

#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "os/cpus.h"
#include "os/pages.h"

namespace weft::test {
namespace {

using os::CpuSet;
using os::Sharing;

CpuSet range(int first, int count) {
  CpuSet set;
  for (int cpu = first; cpu < first + count; ++cpu) set.add(cpu);
  return set;
}

std::vector<CpuSet> groups(Sharing sharing, bool& foreign,
                           const char* machine = "pack:2 [numa] l3:2 l2:2 core:1 pu:2") {
  std::vector<CpuSet> found;
  const auto visit = [](void* context, const CpuSet& cpus) {
    static_cast<std::vector<CpuSet>*>(context)->push_back(cpus);
  };
  setenv("HWLOC_SYNTHETIC", machine, 1);
  const bool known = os::for_each_group(os::hwloc_library, sharing, visit, &found, &foreign);
  unsetenv("HWLOC_SYNTHETIC");
  EXPECT_EQ(known, !found.empty());
  return found;
}

TEST(TopologyTest, GroupsCpusByWhatTheyShare) {
  bool foreign = false;
  if (groups(Sharing::thread, foreign).empty()) GTEST_SKIP() << "hwloc is not installed";
  EXPECT_TRUE(foreign);
  const struct {
    Sharing sharing;
    int size;
  } cases[] = {
      {Sharing::thread, 1}, {Sharing::core, 2}, {Sharing::last_cache, 4}, {Sharing::node, 8}, {Sharing::package, 8}};
  for (const auto& [sharing, size] : cases) {
    const std::vector<CpuSet> found = groups(sharing, foreign);
    ASSERT_EQ(found.size(), static_cast<std::size_t>(16 / size));
    for (std::size_t index = 0; index < found.size(); ++index)
      EXPECT_TRUE(found[index] == range(static_cast<int>(index) * size, size)) << size << ' ' << index;
  }
}

TEST(TopologyTest, LeavesOutMemoryWithoutCpusOfItsOwn) {
  bool foreign = false;
  const std::vector<CpuSet> found = groups(Sharing::node, foreign, "[numa] pack:2 [numa] [numa] core:2 pu:2");
  if (found.empty()) GTEST_SKIP() << "hwloc is not installed";
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0] == range(0, 4));
  EXPECT_TRUE(found[1] == range(4, 4));
}

TEST(TopologyTest, KnowsNothingWithoutHwloc) {
  bool foreign = false;
  const auto visit = [](void*, const CpuSet&) { FAIL(); };
  EXPECT_FALSE(os::for_each_group("libno-such-library.so", Sharing::core, visit, nullptr, &foreign));
}

TEST(CpuSetTest, HoldsWhatWasAdded) {
  CpuSet set = range(62, 4);
  EXPECT_EQ(set.count(), 4);
  EXPECT_EQ(set.next(0), 62);
  EXPECT_EQ(set.next(66), CpuSet::most);
  set.remove(63);
  EXPECT_EQ(set.next(63), 64);
  set.keep_only(range(64, 10));
  EXPECT_TRUE(set == range(64, 2));
  EXPECT_FALSE(CpuSet::in_range(-1));
  EXPECT_FALSE(CpuSet::in_range(CpuSet::most));
}

TEST(CpuSetTest, BindsTheCallingThread) {
  std::thread([] {
    const CpuSet before = os::own_cpus();
    ASSERT_GT(before.count(), 0);
    const CpuSet one = range(before.next(0), 1);
    EXPECT_TRUE(os::bind_this_klt(one));
    EXPECT_TRUE(os::own_cpus() == one);
    EXPECT_FALSE(os::bind_this_klt(CpuSet{}));
    EXPECT_TRUE(os::own_cpus() == one);
  }).join();
}

TEST(PagesTest, AreZeroAndCanBeInterleavedOrPinned) {
  constexpr std::size_t bytes = 10000;
  for (const bool interleaved : {false, true}) {
    auto* pages = static_cast<char*>(os::map_pages(bytes, {.pinned = false, .interleaved = interleaved}));
    ASSERT_NE(pages, nullptr);
    EXPECT_EQ(pages[bytes - 1], 0);
    pages[bytes - 1] = 1;
    os::unmap_pages(pages, bytes);
  }
  void* pinned = os::map_pages(bytes, {.pinned = true, .interleaved = false});  // nullptr where the limit forbids it
  if (pinned != nullptr) os::unmap_pages(pinned, bytes);
  EXPECT_EQ(os::map_pages(SIZE_MAX / 2, {}), nullptr);
}

}  // namespace
}  // namespace weft::test
