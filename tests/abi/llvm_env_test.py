"""The KMP_ variables: llvm_env_test.py PROGRAM, which prints what the kmp_ routines say of them."""

import os
import re
import subprocess
import sys

PROGRAM = sys.argv[1]
NOT_USED = "not used by weft"


def run(**settings: str) -> tuple[list[str], str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("KMP_", "OMP_", "GOMP_"))}
    result = subprocess.run([PROGRAM], env=environment | settings, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        sys.exit(f"{settings}: exit status {result.returncode}: {result.stderr!r}")
    return result.stdout.split(), result.stderr


def expect(settings: dict[str, str], values: dict[int, str], said: str = "") -> None:
    fields, errors = run(**settings)
    for index, value in values.items():
        if fields[index] != value:
            sys.exit(f"{settings}: field {index} is {fields[index]}, expected {value}")
    if (said == "" and errors != "") or not re.search(said, errors):
        sys.exit(f"{settings}: expected {said!r} on stderr, not {errors!r}")
    if said != "" and "\n" in errors.strip() and "DISPLAY" not in errors:
        sys.exit(f"{settings}: more than a line: {errors!r}")


def expect_tasks_before_first(most: int, **settings: str) -> None:
    """Where the machine is busy, a spare worker may run a task early, and there are fewer; not each time."""
    counts: list[int] = []
    while len(counts) < 100 and most not in counts:
        fields, errors = run(COUNT_TASKS="1", **settings)
        counts.append(int(fields[0]))
        if errors != "":
            sys.exit(f"{settings}: expected nothing on stderr, not {errors!r}")
    if max(counts) != most:
        sys.exit(f"{settings}: {counts} tasks before the first is run, expected {most}")


MIB = 1 << 20
expect({}, {2: "3"})
expect({"KMP_STACKSIZE": "3m"}, {0: str(3 * MIB)})
expect({"KMP_STACKSIZE": str(5 * MIB)}, {0: str(5 * MIB)})
expect({"KMP_STACKSIZE": "3m", "OMP_STACKSIZE": "7m"}, {0: str(7 * MIB)})
expect({"KMP_STACKSIZE": "many"}, {}, r"^weft: KMP_STACKSIZE=many: expected a size")
expect({"KMP_BLOCKTIME": "30"}, {1: "30"})
expect({"KMP_BLOCKTIME": "0"}, {1: "0"})
expect({"KMP_BLOCKTIME": "5000us"}, {1: "5"})
expect({"KMP_BLOCKTIME": "10000"}, {1: "10000"})
expect({"KMP_BLOCKTIME": "infinite"}, {1: str((1 << 31) - 1)})
expect({"OMP_WAIT_POLICY": "active"}, {1: str((1 << 31) - 1)})
expect({"OMP_WAIT_POLICY": "passive"}, {1: "0"})
expect({"KMP_BLOCKTIME": "-1"}, {}, r"^weft: KMP_BLOCKTIME=-1: expected a number")
expect({"KMP_BLOCKTIME": "30", "OMP_WAIT_POLICY": "passive"}, {1: "0"})
expect({"KMP_SETTINGS": "1"}, {}, r"OPENMP DISPLAY ENVIRONMENT BEGIN")
expect({"KMP_SETTINGS": "0"}, {})
expect({"KMP_VERSION": "true"}, {}, r"^weft: .*weft$")
expect(
    {"KMP_LIBRARY": "serial", "KMP_TASKING": "0"},
    {},
    rf"^weft: KMP_(LIBRARY|TASKING), KMP_(LIBRARY|TASKING): {NOT_USED}$",
)
expect({"FIRST_BY_ANOTHER": "1"}, {0: "fine"})
# 1000 tasks that nobody else takes: how many are there before the first of them is run.
expect_tasks_before_first(1000, KMP_ENABLE_TASK_THROTTLING="false")
# 64 for each of the two threads, as with libgomp.
expect_tasks_before_first(128, KMP_ENABLE_TASK_THROTTLING="true")
expect_tasks_before_first(128)
expect({"LIBOMP_USE_HIDDEN_HELPER_TASK": "0"}, {}, rf"^weft: LIBOMP_USE_HIDDEN_HELPER_TASK: {NOT_USED}$")
expect({"KMP_DUPLICATE_LIB_OK": "TRUE", "KMP_INIT_AT_FORK": "FALSE"}, {})
