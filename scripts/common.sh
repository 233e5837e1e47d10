# Shared by the scripts here: how they speak, and where the noise of other programs goes.
say() { printf 'weft: %s\n' "$*"; }

fail() {
  printf 'weft: %s\n' "$*" >&2
  exit 1
}

installed_stamp=build-logs/installed # touched when packages came in: what is configured may find more now

# may_write PATH...: ends with a line if one of these is there and the user may not write to it.
may_write() {
  local path
  for path in "$@"; do
    [ ! -e "$path" ] || [ -w "$path" ] ||
      fail "$(realpath "$path"): you may not write there (did root make it?): chown it, or make a checkout of your own"
  done
}

# take_turn WORK: of two of a kind at once in this checkout the second one waits here. The lock goes with the script.
take_turn() {
  may_write .
  mkdir -p build-logs
  may_write build-logs build-logs/*
  exec 9>"build-logs/lock-$1"
  flock --nonblock 9 || { say "waiting for another $1 in this checkout" && flock 9; }
}

# to_log FILE COMMAND...: runs the command with its output in build-logs/FILE. It does not keep the lock: it may leave
# a server behind.
to_log() {
  local log=build-logs/$1
  shift
  mkdir -p build-logs
  "$@" >"$log" 2>&1 </dev/null 9>&-
}

# logged FILE COMMAND...: the same, but shows the output and ends if the command fails.
logged() {
  to_log "$@" && return
  tail -n 40 "build-logs/$1" >&2
  fail "this failed: ${*:2} (its output is in build-logs/$1)"
}

native_sources() { git ls-files '*.h' '*.hpp' '*.c' '*.cpp'; }
