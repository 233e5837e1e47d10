// Condition variables, and whose their mutex is: a unit that waits may leave it to the one that goes on after it.
#include "support.h"

namespace weft::test {
namespace {

// A turn that goes from one unit to the next, and who is inside the mutex meanwhile.
struct Game {
  explicit Game(unsigned kind, unsigned players) : conditions(players) {
    EXPECT_EQ(weft_mutex_init(&mutex, kind), WEFT_OK);
    for (weft_cond& condition : conditions) EXPECT_EQ(weft_cond_init(&condition), WEFT_OK);
  }
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;
  ~Game() {
    for (weft_cond& condition : conditions) EXPECT_EQ(weft_cond_destroy(&condition), WEFT_OK);
    EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_OK);
  }

  void enter() {
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    EXPECT_FALSE(inside);
    inside = true;
  }
  void leave() {
    inside = false;
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  }
  void wait(weft_cond& condition) {
    inside = false;
    EXPECT_EQ(weft_cond_wait(&condition, &mutex), WEFT_OK);
    EXPECT_FALSE(inside);
    inside = true;
  }

  void play(unsigned mine, unsigned turns) {
    enter();
    for (unsigned i = 0; i < turns; ++i) {
      while (turn != mine) wait(conditions[mine]);
      turn = (mine + 1) % static_cast<unsigned>(conditions.size());
      EXPECT_EQ(weft_cond_signal(&conditions[turn]), WEFT_OK);
      ++taken;
    }
    leave();
  }

  weft_mutex mutex;
  std::vector<weft_cond> conditions;
  bool inside = false;
  unsigned turn = 0;
  unsigned taken = 0;
};

constexpr unsigned kinds[] = {WEFT_MUTEX_PLAIN, WEFT_MUTEX_RECURSIVE, WEFT_MUTEX_FAIR};

TEST_P(WaitingTest, PassesATurnOn) {
  const unsigned turns = scaled(2000);
  for (const unsigned kind : kinds) {
    Game game(kind, 3);
    Jobs jobs;
    for (unsigned player = 0; player < 3; ++player) jobs.start(GetParam(), [&, player] { game.play(player, turns); });
    jobs.join();
    EXPECT_EQ(game.taken, 3 * turns);
  }
}

void play_two_games(const weft_unit_attr& attr) {
  const unsigned turns = scaled(2000);
  Game games[] = {Game(WEFT_MUTEX_PLAIN, 2), Game(WEFT_MUTEX_PLAIN, 3)};
  Jobs jobs;
  for (unsigned player = 0; player < 3; ++player)
    for (Game& game : games)
      if (player < game.conditions.size()) jobs.start(attr, [&, player] { game.play(player, turns); });
  jobs.join();
  EXPECT_EQ(games[0].taken, 2 * turns);
  EXPECT_EQ(games[1].taken, 3 * turns);
}

TEST_P(WaitingTest, KeepsTwoGamesApart) { play_two_games(with(GetParam())); }

// First in, first out: the unit that comes next wants the other mutex.
TEST_P(WaitingTest, KeepsTwoGamesApartWhereTheyTakeTurns) {
  weft_pool* pool = make_pool(WEFT_FIFO, WEFT_PRIV);
  const OwnScheduler scheduler(WEFT_BASIC, {pool});
  play_two_games(with(GetParam(), pool));
}

// Others, who do not wait for the condition, come in too while a turn goes to and fro. (Seldom, on one worker: who was
// resumed last goes on first there, and others have their turn each 20 ms.)
TEST_P(WaitingTest, LetsOthersIn) {
  for (const unsigned kind : kinds) {
    Game game(kind, 2);
    bool over = false;
    unsigned entered = 0;
    const auto come_in = [&] {
      for (int i = 0; i < 2; ++i) {
        game.enter();
        ++entered;
        game.leave();
        EXPECT_EQ(weft_yield(), WEFT_OK);
      }
    };
    const auto play = [&](unsigned mine) {
      game.enter();
      while (!over) {
        while (game.turn != mine && !over) game.wait(game.conditions[mine]);
        game.turn = 1 - mine;
        EXPECT_EQ(weft_cond_signal(&game.conditions[1 - mine]), WEFT_OK);
      }
      EXPECT_EQ(weft_cond_signal(&game.conditions[1 - mine]), WEFT_OK);
      game.leave();
    };
    Jobs players;
    for (unsigned player = 0; player < 2; ++player) players.start(GetParam(), [&, player] { play(player); });
    Jobs others;
    for (int i = 0; i < 2; ++i) others.start(GetParam(), come_in);
    others.join();
    game.enter();
    over = true;
    game.leave();
    players.join();
    EXPECT_EQ(entered, 4U);
  }
}

// Once all wait, it is nobody's; also where the one that left it last was followed by one that does not want it.
TEST_P(WaitingTest, LeavesTheMutexFree) {
  weft_mutex mutex = WEFT_MUTEX_INIT;
  weft_cond condition = WEFT_COND_INIT;
  bool open = false;
  std::atomic<unsigned> waiting{0};
  Jobs jobs;
  for (unsigned i = 0; i < 20; ++i) {
    jobs.start(GetParam(), [&] {
      EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
      ++waiting;
      while (!open) EXPECT_EQ(weft_cond_wait(&condition, &mutex), WEFT_OK);
      EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    });
    jobs.start(GetParam(), [] { weft_yield(); });
  }
  ASSERT_TRUE(eventually([&] { return waiting == 20; }));
  ASSERT_TRUE(eventually([&] { return weft_mutex_try_lock(&mutex) == WEFT_OK; }));
  open = true;
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  EXPECT_EQ(weft_cond_broadcast(&condition), WEFT_OK);
  jobs.join();
  EXPECT_EQ(weft_cond_destroy(&condition), WEFT_OK);
  EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_OK);
}

// Waits again and again, each time for so short that it is over at once, for what another does under the mutex.
void wait_until_set(weft_technique technique, unsigned kind) {
  weft_mutex mutex;
  weft_cond condition = WEFT_COND_INIT;
  bool set = false;
  ASSERT_EQ(weft_mutex_init(&mutex, kind), WEFT_OK);
  EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
  Jobs jobs;
  jobs.start(technique, [&] {
    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
    set = true;
    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!set && std::chrono::steady_clock::now() < limit) {
    const int error = weft_cond_timed_wait(&condition, &mutex, 1);
    EXPECT_EQ(error, WEFT_ERR_TIMEOUT);
  }
  EXPECT_TRUE(set);
  EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
  jobs.join();
  EXPECT_EQ(weft_cond_destroy(&condition), WEFT_OK);
  EXPECT_EQ(weft_mutex_destroy(&mutex), WEFT_OK);
}

// Bug: such waits kept the mutex, and with it whoever they waited for from ever doing it.
TEST_P(WaitingTest, LetsOthersHaveTheMutexHoweverShortItWaits) {
  for (const unsigned kind : kinds) {
    wait_until_set(GetParam(), kind);
    Jobs jobs;
    jobs.start(GetParam(), [kind] { wait_until_set(GetParam(), kind); });
  }
}

}  // namespace
}  // namespace weft::test
