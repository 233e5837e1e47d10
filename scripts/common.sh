# Shared by the scripts here: how they speak, and where the noise of other programs goes.
say() { printf 'weft: %s\n' "$*"; }

fail() {
  printf 'weft: %s\n' "$*" >&2
  exit 1
}

installed_stamp=build-logs/installed # touched when packages came in: what is configured may find more now

# logged FILE COMMAND...: runs the command with its output in build-logs/FILE, and shows that if it fails.
logged() {
  local log=build-logs/$1
  shift
  mkdir -p build-logs
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    fail "this failed: $* (its output is in $log)"
  fi
}
