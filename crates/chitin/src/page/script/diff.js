// Differences between two prompts: by line for people, by byte for the cache.

/** How many edits are looked for exactly. The memory needed grows with the square. */
const EDIT_LIMIT = 1500;

/**
 * Compares two lists of lines. Returns `{ edits, coarse }`; each edit is `[sign, a, b]` with sign " ", "-" or "+" and the
 * places in the two lists. When there are too many differences, lines that occur once in both are matched and what
 * lies between them is replaced as a block; `coarse` says so.
 */
function diffLines(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const exact = myers(a, b, start, endA, start, endB);
  const middle = exact ?? anchored(a, b, start, endA, endB);
  const edits = [];
  for (let index = 0; index < start; index += 1) edits.push([" ", index, index]);
  for (const edit of middle) edits.push(edit);
  for (let index = 0; endA + index < a.length; index += 1) edits.push([" ", endA + index, endB + index]);
  return { edits, coarse: exact === null };
}

/** Myers' greedy algorithm. Returns null when it would need more than `EDIT_LIMIT` edits. */
function myers(a, b, startA, endA, startB, endB) {
  const n = endA - startA;
  const m = endB - startB;
  const limit = Math.min(n + m, EDIT_LIMIT);
  const centre = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const trail = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trail.push(furthest.slice(centre - edits - 1, centre + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down =
        diagonal === -edits ||
        (diagonal !== edits && furthest[centre + diagonal - 1] < furthest[centre + diagonal + 1]);
      let x = down ? furthest[centre + diagonal + 1] : furthest[centre + diagonal - 1] + 1;
      let y = x - diagonal;
      while (x < n && y < m && a[startA + x] === b[startB + y]) {
        x += 1;
        y += 1;
      }
      furthest[centre + diagonal] = x;
      if (x >= n && y >= m) return walkBack(trail, edits, n, m, startA, startB);
    }
  }
  return null;
}

function walkBack(trail, edits, n, m, startA, startB) {
  const path = [];
  let x = n;
  let y = m;
  for (let step = edits; step > 0; step -= 1) {
    const before = trail[step];
    const at = (diagonal) => before[diagonal + step + 1];
    const diagonal = x - y;
    const down = diagonal === -step || (diagonal !== step && at(diagonal - 1) < at(diagonal + 1));
    const fromDiagonal = down ? diagonal + 1 : diagonal - 1;
    const afterEdit = down ? at(fromDiagonal) : at(fromDiagonal) + 1;
    while (x > afterEdit) {
      x -= 1;
      y -= 1;
      path.push([" ", startA + x, startB + y]);
    }
    if (down) {
      y -= 1;
      path.push(["+", startA + x, startB + y]);
    } else {
      x -= 1;
      path.push(["-", startA + x, startB + y]);
    }
  }
  while (x > 0 && y > 0) {
    x -= 1;
    y -= 1;
    path.push([" ", startA + x, startB + y]);
  }
  return path.reverse();
}

/** Matches lines that occur once in both, in order, and replaces what lies between them. */
function anchored(a, b, start, endA, endB) {
  const seen = new Map();
  const note = (line, side, index) => {
    const entry = seen.get(line) ?? { a: -1, b: -1 };
    entry[side] = entry[side] === -1 ? index : -2;
    seen.set(line, entry);
  };
  for (let index = start; index < endA; index += 1) note(a[index], "a", index);
  for (let index = start; index < endB; index += 1) note(b[index], "b", index);
  const pairs = [...seen.values()].filter((entry) => entry.a >= 0 && entry.b >= 0).sort((p, q) => p.a - q.a);

  const edits = [];
  let nextA = start;
  let nextB = start;
  const replaceUpTo = (untilA, untilB) => {
    while (nextA < untilA && nextB < untilB && a[nextA] === b[nextB]) edits.push([" ", nextA++, nextB++]);
    while (nextA < untilA) edits.push(["-", nextA++, nextB]);
    while (nextB < untilB) edits.push(["+", nextA, nextB++]);
  };
  for (const pair of risingBy(pairs)) {
    replaceUpTo(pair.a, pair.b);
    edits.push([" ", nextA++, nextB++]);
  }
  replaceUpTo(endA, endB);
  return edits;
}

/** Returns the longest run of pairs that also rises in the second list. */
function risingBy(pairs) {
  const tails = [];
  const previous = new Int32Array(pairs.length);
  pairs.forEach((pair, index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]].b < pair.b) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? tails[low - 1] : -1;
    tails[low] = index;
  });
  const rising = [];
  for (let index = tails.length > 0 ? tails[tails.length - 1] : -1; index >= 0; index = previous[index]) {
    rising.push(pairs[index]);
  }
  return rising.reverse();
}

/** Returns the first byte at which two texts differ, or null when they are the same. */
function firstDifference(a, b) {
  if (a === b) return null;
  const encoder = new TextEncoder();
  const first = encoder.encode(a);
  const second = encoder.encode(b);
  const shorter = Math.min(first.length, second.length);
  let byte = 0;
  while (byte < shorter && first[byte] === second[byte]) byte += 1;
  return byte;
}

/** Keeps a few equal lines around each change and folds the rest: `["fold", edits]`. */
function foldEqual(edits, context) {
  const out = [];
  let index = 0;
  while (index < edits.length) {
    if (edits[index][0] !== " ") {
      out.push(edits[index]);
      index += 1;
      continue;
    }
    let end = index;
    while (end < edits.length && edits[end][0] === " ") end += 1;
    const head = index === 0 ? 0 : context;
    const tail = end === edits.length ? 0 : context;
    if (end - index > head + tail + 3) {
      out.push(...edits.slice(index, index + head));
      out.push(["fold", edits.slice(index + head, end - tail)]);
      out.push(...edits.slice(end - tail, end));
    } else for (let at = index; at < end; at += 1) out.push(edits[at]);
    index = end;
  }
  return out;
}
