#!/bin/sh
# Prints the times at which a tide table stays at or above a height.
# Usage: window.sh HEIGHT TABLE.csv      (table: a heading, then rows "HH:MM,metres")
set -eu

if [ "$#" -ne 2 ]; then
  echo "usage: window.sh HEIGHT TABLE.csv" >&2
  exit 2
fi

awk -F, -v need="$1" '
  function clock(minutes) { return sprintf("%02d:%02d", int(minutes / 60), int(minutes % 60)) }
  function close_window(at) {
    printf "%s to %s, top %.2f m at %s\n", clock(start), clock(at), top, clock(top_at)
    open = 0
    found = 1
  }
  NR == 1 || NF < 2 { next }
  {
    split($1, part, ":")
    now = part[1] * 60 + part[2]
    height = $2 + 0
    if (!open && height >= need) {
      # The crossing lies between the last row and this one; round up, so that the window is never too wide.
      start = now
      if (seen) {
        crossing = before + (need - low) / (height - low) * (now - before)
        start = int(crossing) + (crossing > int(crossing))
      }
      open = 1
      top = -99
    } else if (open && height < need) {
      close_window(before + (low - need) / (low - height) * (now - before))
    }
    if (open && height > top) { top = height; top_at = now }
    seen = 1; before = now; low = height
  }
  END {
    if (open) close_window(before)
    if (!found) { print "no window"; exit 1 }
  }
' "$2"
