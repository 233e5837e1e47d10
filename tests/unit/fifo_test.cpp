// src/base/fifo.h
#include "base/fifo.h"

#include "support.h"

namespace weft::test {
namespace {

struct Node {
  int value;
  Node* next = nullptr;
};

using List = base::Fifo<Node, &Node::next>;

TEST(Fifo, FirstInFirstOut) {
  Node nodes[3] = {{1}, {2}, {3}};
  List list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop(), nullptr);
  for (Node& node : nodes) list.push(&node);
  for (Node& node : nodes) EXPECT_EQ(list.pop(), &node);
  EXPECT_TRUE(list.empty());
  list.push(&nodes[1]);
  EXPECT_EQ(list.front(), &nodes[1]);
  EXPECT_EQ(list.pop(), &nodes[1]);
  EXPECT_EQ(list.pop(), nullptr);
}

TEST(Fifo, TakesChainsAtBothEnds) {
  Node nodes[6] = {{0}, {1}, {2}, {3}, {4}, {5}};
  for (int value : {0, 2, 4}) nodes[value].next = &nodes[value + 1];
  List list;
  list.prepend(&nodes[2], &nodes[3]);  // into the empty one: the tail must be right
  list.append(&nodes[4], &nodes[5]);
  list.prepend(&nodes[0], &nodes[1]);
  List all = list.take_all();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop(), nullptr);
  for (Node& node : nodes) EXPECT_EQ(all.pop(), &node);
  EXPECT_TRUE(all.empty());
}

TEST(Fifo, TakesOutFirstMiddleAndLast) {
  for (int wanted = 1; wanted <= 3; ++wanted) {
    Node nodes[3] = {{1}, {2}, {3}};
    Node more{4};
    List list;
    for (Node& node : nodes) list.push(&node);
    EXPECT_EQ(list.take_if([](const Node*) { return false; }), nullptr);
    EXPECT_EQ(list.take_if([=](const Node* node) { return node->value == wanted; }), &nodes[wanted - 1]);
    list.push(&more);  // the tail must still be right
    for (int value = 1; value <= 4; ++value) {
      if (value == wanted) continue;
      Node* node = list.pop();
      ASSERT_NE(node, nullptr);
      EXPECT_EQ(node->value, value);
    }
    EXPECT_TRUE(list.empty());
  }
}

TEST(Fifo, TakesOutTheOnlyOne) {
  Node one{1};
  List list;
  list.push(&one);
  EXPECT_EQ(list.take_if([](const Node*) { return true; }), &one);
  EXPECT_TRUE(list.empty());
  list.push(&one);
  EXPECT_EQ(list.pop(), &one);
}

}  // namespace
}  // namespace weft::test
