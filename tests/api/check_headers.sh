#!/bin/sh
# check_headers.sh COMPILER c|c++ STANDARD INCLUDE_FOLDER
# Each public header compiles alone, and so do the initialisers, without a warning.
set -eu
compiler=$1 language=$2 standard=$3 include=$4

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compile() {
  "$compiler" -x "$language" "-std=$standard" -Wall -Wextra -Wpedantic -Werror "-I$include" -c "$1" -o "$folder/object" ||
    { echo "$(basename "$1") does not compile: $compiler -std=$standard"; exit 1; }
}

headers=$(ls "$include"/weft/*.h)
[ "$standard" != c++20 ] || headers="$headers $(ls "$include"/weft/*.hpp)"
for header in $headers; do
  printf '#include "%s"\nint nothing_else;\n' "$header" >"$folder/$(basename "$header").source"
  compile "$folder/$(basename "$header").source"
done

cat >"$folder/initialisers" <<'END'
#include <weft/weft.h>
void* values[2];
weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
weft_mutex mutex = WEFT_MUTEX_INIT;
weft_mutex fair_mutex = WEFT_MUTEX_INIT_KIND(WEFT_MUTEX_FAIR);
weft_cond cond = WEFT_COND_INIT;
weft_barrier barrier = WEFT_BARRIER_INIT(3);
weft_rwlock lock = WEFT_RWLOCK_INIT;
weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(2);
weft_latch latch = WEFT_LATCH_INIT(2);
weft_flag flag = WEFT_FLAG_INIT;
weft_eventual eventual = WEFT_EVENTUAL_INIT;
weft_eventual buffered = WEFT_EVENTUAL_INIT_BUFFER(values, sizeof values);
weft_future future = WEFT_FUTURE_INIT(2, values, NULL, NULL);
END
compile "$folder/initialisers"
