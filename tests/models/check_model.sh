#!/bin/sh
# check_model.sh SPIN CC MODEL.pml passes|fails [-DNAME...]
# Generates the checker for a model, builds and runs it, and compares what it finds with what is expected.
set -eu
spin=$1 compiler=$2 model=$3 expected=$4
shift 4

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$model" "$folder/model.pml"
cd "$folder"

"$spin" "$@" -a model.pml >spin.log 2>&1 || { cat spin.log; exit 1; }
optimise=-O1
if [ "$expected" = fails ]; then optimise=-O0; fi # an error is found before a faster search has made up for its compilation
"$compiler" "$optimise" -w -DSAFETY -DVECTORSZ=2048 -o pan pan.c || exit 1
./pan -m1000000 -w22 >pan.log 2>&1 || true

errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
if [ -z "$errors" ] || grep -q 'max search depth too small\|out of memory\|aborting' pan.log; then
  cat pan.log
  echo "$(basename "$model") $*: the search was not completed"
  exit 1
fi
if [ "$expected" = passes ] && [ "$errors" -ne 0 ]; then
  cat pan.log
  "$spin" "$@" -t -p model.pml 2>/dev/null | tail -n 60 || true
  echo "$(basename "$model") $*: $errors errors, expected none"
  exit 1
fi
if [ "$expected" = fails ] && [ "$errors" -eq 0 ]; then
  echo "$(basename "$model") $*: no error found, but this variant is wrong on purpose"
  exit 1
fi
sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1 states/p' pan.log
