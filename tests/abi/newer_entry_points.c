/* Entry points that came with GCC 13 and later, by name and version: libgomp 12 has none of them. */
#include <stdint.h>

#include "check.h"

static void* look_up(const char* name, const char* version) {
  void* const address = dlvsym(RTLD_DEFAULT, name, version);
  if (address == NULL) check_fail(__FILE__, __LINE__, name);
  return address;
}

static void allocations(void) {
  void (*const add)(void*) = (void (*)(void*))look_up("GOMP_add_alloc", "GOMP_5.1.2");
  _Bool (*const is)(void*) = (_Bool(*)(void*))look_up("GOMP_is_alloc", "GOMP_5.1.2");
  char blocks[3000];
  if (add == NULL || is == NULL) return;
  add(NULL);
  CHECK(!is(NULL));
  CHECK(!is(blocks));
  for (int i = 0; i < 3000; ++i) add(&blocks[i]);
  for (int i = 0; i < 3000; ++i) CHECK(is(&blocks[i]));
  for (int i = 0; i < 3000; ++i) CHECK(!is(&blocks[i]));
}

static void interop(void) {
  typedef void interop_type(int, int, void***, const int*, const char**, int, void**, int, void***, unsigned, void**);
  interop_type* const function = (interop_type*)look_up("GOMP_interop", "GOMP_5.1.3");
  void* (*const map)(void*) = (void* (*)(void*))look_up("GOMP_target_map_indirect_ptr", "GOMP_5.1.2");
  int value = 0, kinds[2] = {1, 2};
  void *made[2] = {&value, &value}, *destroyed = &value, *used = NULL;
  void** to_make[2] = {&made[0], &made[1]};
  void** to_destroy[1] = {&destroyed};
  void* depend[] = {(void*)1, (void*)1, &value};
  if (function == NULL || map == NULL) return;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : value) shared(value)
    check_store(&value, 1);
    function(0, 2, to_make, kinds, NULL, 1, &used, 1, to_destroy, 0, depend);
    CHECK_EQ(check_load(&value), 1);
  }
  CHECK(made[0] == NULL && made[1] == NULL && destroyed == NULL);
  CHECK(map(&value) == &value && map(NULL) == NULL);
}

/* NAME(type, version): a local variable of that name, and a return if there is no such function. */
#define LOOK_UP(type, name, version)                 \
  type* const name = (type*)look_up(#name, version); \
  if (name == NULL) return

typedef intptr_t get_int(const void*, int, int*);
typedef void* get_ptr(const void*, int, int*);
typedef const char* get_str(const void*, int, int*);
typedef const char* get_text(const void*, int);
typedef void get_fortran_str(const char**, size_t*, const void*, int, int*);
typedef void get_fortran_text(const char**, size_t*, const void*, int);
typedef int count_properties(const void*);

static void interop_properties(void) {
  enum { first = -9, empty = -1, out_of_range = -2 };
  LOOK_UP(count_properties, omp_get_num_interop_properties, "GOMP_5.1.3");
  LOOK_UP(get_int, omp_get_interop_int, "GOMP_5.1.3");
  LOOK_UP(get_ptr, omp_get_interop_ptr, "GOMP_5.1.3");
  LOOK_UP(get_str, omp_get_interop_str, "GOMP_5.1.3");
  LOOK_UP(get_text, omp_get_interop_name, "GOMP_5.1.3");
  LOOK_UP(get_text, omp_get_interop_type_desc, "GOMP_5.1.3");
  LOOK_UP(get_text, omp_get_interop_rc_desc, "GOMP_5.1.3");
  LOOK_UP(get_fortran_str, omp_get_interop_str_, "GOMP_5.1.3");
  LOOK_UP(get_fortran_text, omp_get_interop_name_, "GOMP_5.1.3");
  LOOK_UP(get_fortran_text, omp_get_interop_type_desc_, "GOMP_5.1.3");
  LOOK_UP(get_fortran_text, omp_get_interop_rc_desc_, "GOMP_5.1.3");
  static const char* const names[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                      "platform", "device",  "device_context", "targetsync"};
  const char* string = "something";
  size_t length = 99;
  CHECK_EQ(omp_get_num_interop_properties(NULL), 0);
  for (int property = first - 1; property <= 0; ++property) {
    const int expected = property >= first && property < 0 ? empty : out_of_range;
    int result = 77;
    CHECK_EQ(omp_get_interop_int(NULL, property, &result), 0);
    CHECK_EQ(result, expected);
    result = 77;
    CHECK(omp_get_interop_ptr(NULL, property, &result) == NULL);
    CHECK_EQ(result, expected);
    result = 77;
    CHECK(omp_get_interop_str(NULL, property, &result) == NULL);
    CHECK_EQ(result, expected);
    result = 77;
    omp_get_interop_str_(&string, &length, NULL, property, &result);
    CHECK(string == NULL && length == 0);
    CHECK_EQ(result, expected);
    CHECK(omp_get_interop_type_desc(NULL, property) == NULL);
    omp_get_interop_type_desc_(&string, &length, NULL, property);
    CHECK(string == NULL && length == 0);
    const char* const name = omp_get_interop_name(NULL, property);
    omp_get_interop_name_(&string, &length, NULL, property);
    CHECK(string == name);
    if (expected == empty) {
      CHECK(name != NULL && strcmp(name, names[-1 - property]) == 0);
      CHECK_EQ(length, strlen(name));
    } else {
      CHECK(name == NULL);
    }
  }
  CHECK_EQ(omp_get_interop_int(NULL, -1, NULL), 0);
  for (int result = -7; result <= 2; ++result) {
    const char* const text = omp_get_interop_rc_desc(NULL, result);
    CHECK((text != NULL) == (result >= -6 && result <= 1));
    omp_get_interop_rc_desc_(&string, &length, NULL, result);
    CHECK(string == text);
    CHECK_EQ(length, text != NULL ? strlen(text) : 0);
  }
}

typedef const char* get_uid(int);
typedef int get_device(const char*);
typedef void get_fortran_uid(const char**, size_t*, int32_t);
typedef void get_fortran_uid_8(const char**, size_t*, int64_t);
typedef int32_t get_fortran_device(const char*, size_t);
typedef void get_distances(int, const int*, int*);

static void devices(void) {
  enum { initial = -1, invalid = -4, standard = -5 };
  LOOK_UP(get_uid, omp_get_uid_from_device, "GOMP_6.0");
  LOOK_UP(get_device, omp_get_device_from_uid, "GOMP_6.0");
  LOOK_UP(get_fortran_uid, omp_get_uid_from_device_, "GOMP_6.0");
  LOOK_UP(get_fortran_uid_8, omp_get_uid_from_device_8_, "GOMP_6.0");
  LOOK_UP(get_fortran_device, omp_get_device_from_uid_, "GOMP_6.0");
  LOOK_UP(get_distances, omp_get_device_distances, "OMP_6.1");
  const char* const uid = omp_get_uid_from_device(omp_get_initial_device());
  CHECK(uid != NULL && uid[0] != '\0');
  if (uid == NULL) return;
  CHECK(omp_get_uid_from_device(initial) == uid);
  CHECK(omp_get_uid_from_device(standard) == uid);
  CHECK(omp_get_uid_from_device(invalid) == NULL);
  CHECK(omp_get_uid_from_device(omp_get_num_devices() + 1) == NULL);
  CHECK_EQ(omp_get_device_from_uid(uid), omp_get_initial_device());
  CHECK_EQ(omp_get_device_from_uid("no device has this"), invalid);
  CHECK_EQ(omp_get_device_from_uid(NULL), invalid);
  const char* string = NULL;
  size_t length = 0;
  omp_get_uid_from_device_(&string, &length, initial);
  CHECK(string == uid);
  CHECK_EQ(length, strlen(uid));
  omp_get_uid_from_device_8_(&string, &length, invalid);
  CHECK(string == NULL);
  CHECK_EQ(length, 0);
  CHECK_EQ(omp_get_device_from_uid_(uid, strlen(uid)), omp_get_initial_device());
  CHECK_EQ(omp_get_device_from_uid_(uid, strlen(uid) - 1), invalid);
  const int numbers[] = {initial, omp_get_initial_device(), invalid, 17, standard};
  int distances[] = {9, 9, 9, 9, 9};
  omp_get_device_distances(5, numbers, distances);
  static const int expected[] = {0, 0, -1, -1, 0};
  for (int i = 0; i < 5; ++i) CHECK_EQ(distances[i], expected[i]);
}

typedef void* fill_type(void*, int, size_t, int);
typedef void* fill_later(void*, int, size_t, int, int, void*);

static void filling(void) {
  LOOK_UP(fill_type, omp_target_memset, "GOMP_6.0.1");
  LOOK_UP(fill_later, omp_target_memset_async, "GOMP_6.0.1");
  unsigned char memory[100];
  memset(memory, 1, sizeof memory);
  CHECK(omp_target_memset(memory + 10, 0x102, 50, omp_get_initial_device()) == memory + 10);
  for (int i = 0; i < 100; ++i) CHECK_EQ(memory[i], i >= 10 && i < 60 ? 2 : 1);
  CHECK(omp_target_memset(memory, 3, 0, -1) == memory);
  CHECK_EQ(memory[0], 1);
  omp_depend_t depend;
#pragma omp depobj(depend) depend(inout : memory)
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int round = 0; round < 20; ++round) {
#pragma omp task depend(out : memory) shared(memory)
    memset(memory, 5, sizeof memory);
    CHECK(omp_target_memset_async(memory + 1, 7, sizeof memory - 2, -1, 1, &depend) == memory + 1);
#pragma omp task depend(in : memory) shared(memory)
    for (int i = 0; i < 100; ++i) CHECK_EQ(memory[i], i > 0 && i < 99 ? 7 : 5);
  }
  CHECK(omp_target_memset_async(memory, 9, sizeof memory, -1, 0, NULL) == memory);
#pragma omp taskwait
  for (int i = 0; i < 100; ++i) CHECK_EQ(memory[i], 9);
#pragma omp depobj(depend) destroy
}

typedef int along(int);
typedef int along_of_device(int, int);

static void dimensions(void) {
  LOOK_UP(along, omp_get_num_threads_dim, "OMP_6.1");
  LOOK_UP(along, omp_get_thread_num_dim, "OMP_6.1");
  LOOK_UP(along, omp_get_thread_limit_dim, "OMP_6.1");
  LOOK_UP(along, omp_get_num_teams_dim, "OMP_6.1");
  LOOK_UP(along, omp_get_team_num_dim, "OMP_6.1");
  LOOK_UP(along_of_device, omp_get_supported_active_team_dims, "OMP_6.1");
  LOOK_UP(along_of_device, omp_get_supported_active_league_dims, "OMP_6.1");
  LOOK_UP(along_of_device, omp_get_supported_teams_dim, "OMP_6.1");
  LOOK_UP(along_of_device, omp_get_supported_threads_dim, "OMP_6.1");
#pragma omp parallel num_threads(3)
  {
    CHECK_EQ(omp_get_num_threads_dim(0), omp_get_num_threads());
    CHECK_EQ(omp_get_thread_num_dim(0), omp_get_thread_num());
    CHECK_EQ(omp_get_thread_limit_dim(0), omp_get_thread_limit());
    CHECK_EQ(omp_get_num_teams_dim(0), omp_get_num_teams());
    CHECK_EQ(omp_get_team_num_dim(0), omp_get_team_num());
    for (int dimension = 1; dimension < 4; ++dimension) {
      CHECK_EQ(omp_get_num_threads_dim(dimension), 1);
      CHECK_EQ(omp_get_thread_num_dim(dimension), 0);
      CHECK_EQ(omp_get_thread_limit_dim(dimension), 1);
      CHECK_EQ(omp_get_num_teams_dim(dimension), 1);
      CHECK_EQ(omp_get_team_num_dim(dimension), 0);
    }
  }
  for (int native = 0; native < 2; ++native) {
    CHECK_EQ(omp_get_supported_active_team_dims(-1, native), 1);
    CHECK_EQ(omp_get_supported_active_league_dims(-1, native), 1);
  }
  CHECK_GE(omp_get_supported_teams_dim(-1, 0), 1000);
  CHECK_EQ(omp_get_supported_teams_dim(-1, 1), 1);
  CHECK_GE(omp_get_supported_threads_dim(-1, 0), 1000);
  CHECK_EQ(omp_get_supported_threads_dim(-1, 1), 1);
}

typedef _Complex int take_pair(void);
typedef _Bool ask_number(int);
typedef _Bool ask(void);
typedef void call(void);
typedef void call_number(int);

static void constructs(void) {
  LOOK_UP(take_pair, GOMP_loop_static_worksharing, "GOMP_6.0.2");
  LOOK_UP(take_pair, GOMP_loop_static_worksharing_start, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_loop_static_worksharing_dispatch, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_loop_static_worksharing_end, "GOMP_6.0.2");
  LOOK_UP(take_pair, GOMP_distribute_static_worksharing, "GOMP_6.0.2");
  LOOK_UP(take_pair, GOMP_distribute_static_worksharing_start, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_distribute_static_worksharing_dispatch, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_distribute_static_worksharing_end, "GOMP_6.0.2");
  LOOK_UP(ask_number, GOMP_has_masked_thread_num, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_masked_end, "GOMP_6.0.2");
  LOOK_UP(ask, GOMP_single_start_with_end, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_single_end, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_reduction_start, "GOMP_6.0.2");
  LOOK_UP(call, GOMP_reduction_end, "GOMP_6.0.2");
  LOOK_UP(call_number, GOMP_barrier_ext, "GOMP_6.0.2");
  LOOK_UP(ask_number, GOMP_barrier_cancel_ext, "GOMP_6.0.2");
  enum { size = 5, rounds = 30 };
  int masked = 0, singles = 0, arrived = 0;
  long sum = 0;
#pragma omp parallel num_threads(size)
  {
    _Complex int pair = GOMP_loop_static_worksharing();
    CHECK_EQ(__real__ pair, omp_get_num_threads());
    CHECK_EQ(__imag__ pair, omp_get_thread_num());
    pair = GOMP_loop_static_worksharing_start();
    CHECK_EQ(__real__ pair, omp_get_num_threads());
    CHECK_EQ(__imag__ pair, omp_get_thread_num());
    GOMP_loop_static_worksharing_dispatch();
    GOMP_loop_static_worksharing_end();
    for (int round = 0; round < rounds; ++round) {
      if (GOMP_has_masked_thread_num(2)) {
        check_add(&masked, omp_get_thread_num());
        GOMP_masked_end();
      }
      if (GOMP_single_start_with_end()) {
        check_add(&singles, 1);
        GOMP_single_end();
      }
      GOMP_reduction_start();
      sum += omp_get_thread_num();
      GOMP_reduction_end();
      check_add(&arrived, 1);
      GOMP_barrier_ext(round % 4);
      CHECK_EQ(check_load(&arrived), size * (2 * round + 1));
      CHECK(!GOMP_barrier_cancel_ext(1));
      check_add(&arrived, 1);
      GOMP_barrier_ext(2);
    }
  }
  CHECK_EQ(masked, 2 * rounds);
  CHECK_EQ(singles, rounds);
  CHECK_EQ(sum, rounds * size * (size - 1) / 2);
#pragma omp teams num_teams(3)
  {
    _Complex int pair = GOMP_distribute_static_worksharing();
    CHECK_EQ(__real__ pair, omp_get_num_teams());
    CHECK_EQ(__imag__ pair, omp_get_team_num());
    pair = GOMP_distribute_static_worksharing_start();
    CHECK_EQ(__real__ pair, omp_get_num_teams());
    CHECK_EQ(__imag__ pair, omp_get_team_num());
    GOMP_distribute_static_worksharing_dispatch();
    GOMP_distribute_static_worksharing_end();
  }
}

static void tool_control(void) {
  typedef int control(int, int, void*);
  typedef int fortran_control(const int32_t*, const int32_t*, void*);
  typedef int fortran_control_8(const int64_t*, const int64_t*, void*);
  LOOK_UP(control, omp_control_tool, "OMP_6.0");
  LOOK_UP(fortran_control, omp_control_tool_, "OMP_6.0");
  LOOK_UP(fortran_control_8, omp_control_tool_8_, "OMP_6.0");
  const int32_t start = 1, modifier = 0;
  const int64_t start_8 = 1, modifier_8 = 0;
  if (getenv("OMP_TOOL_LIBRARIES") != NULL) return;
  enum { no_tool = -2 };
  CHECK_EQ(omp_control_tool(start, modifier, NULL), no_tool);
  CHECK_EQ(omp_control_tool_(&start, &modifier, NULL), no_tool);
  CHECK_EQ(omp_control_tool_8_(&start_8, &modifier_8, NULL), no_tool);
}

/* What the tool is told of them, ompt_witness.c checks. */
static void errors(void) {
  if (getenv("OMP_TOOL_LIBRARIES") == NULL) return;
#pragma omp error at(execution) severity(warning) message("a message")
#pragma omp error at(execution) severity(warning)
}

static void body(void) {
  if (getenv("CHECK_RUNTIME") == NULL) return;
  look_up("GOMP_taskwait_depend_nowait", "GOMP_5.1.1");
  allocations();
  interop();
  interop_properties();
  devices();
  filling();
  dimensions();
  if (omp_get_level() == 0) constructs(); /* which has a teams construct */
  tool_control();
  errors();
}

CHECK_MAIN(body)
