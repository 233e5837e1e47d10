// Input and output for units (weft/io.h) of files of which poll(2) never says that they are ready.
#include <cstdio>

#include "io_support.h"
#include <weft/io.h>

namespace weft::test {
namespace {

class IoReadyTest : public ApiTest {};

// Bug: EINVAL from the ring, which takes no file that tells nobody when it is ready.
TEST_F(IoReadyTest, PollWaitsForOthersBesideAFileThatIsNeverReady) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  FILE* on_disk = tmpfile();
  for (const int file : {null, fileno(on_disk)}) {
    for (const short events : {short{0}, short{POLLPRI}}) {
      Pipe pipe;
      Jobs jobs;
      std::atomic<bool> waits{false};
      jobs.start(WEFT_AUTO, [&] {
        pollfd files[2] = {{file, events, 0}, {pipe.first, POLLIN, 0}};
        std::size_t ready = 0;
        EXPECT_EQ(weft_poll(files, 1, 5 * millisecond, &ready), WEFT_ERR_TIMEOUT);
        EXPECT_EQ(weft_poll(files, 2, 5 * millisecond, &ready), WEFT_ERR_TIMEOUT);
        waits = true;
        EXPECT_EQ(weft_poll(files, 2, WEFT_FOREVER, &ready), WEFT_OK);
        EXPECT_EQ(ready, 1U);
        EXPECT_EQ(files[0].revents, 0);
        EXPECT_EQ(files[1].revents, POLLIN);
      });
      EXPECT_TRUE(eventually([&] { return waits.load(); }));
      weft_sleep(20 * millisecond);
      EXPECT_EQ(::write(pipe.second, "x", 1), 1);
      jobs.join();
    }
  }
  fclose(on_disk);
  close(null);
}

}  // namespace
}  // namespace weft::test
