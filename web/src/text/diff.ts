// The differences between two texts, line by line.

/** A line of a comparison: in both, only in the second, or only in the first. */
export interface Line {
  op: "same" | "add" | "remove";
  text: string;
}

/** Equal lines that are not shown. */
export interface Skip {
  op: "skip";
  lines: number;
}

/** How many edits are looked for exactly. The memory needed grows with the square. */
const EDIT_LIMIT = 1500;

/**
 * Compares two texts by Myers' greedy algorithm, between what they begin and end with alike. When there are too many
 * differences, what lies between is replaced as a block.
 */
export function diffText(before: string, after: string): Line[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const [left, right] = [a.slice(start, endA), b.slice(start, endB)];
  const same = (text: string): Line => ({ op: "same", text });
  return [...a.slice(0, start).map(same), ...(myers(left, right) ?? block(left, right)), ...a.slice(endA).map(same)];
}

function block(a: string[], b: string[]): Line[] {
  return [...a.map((text): Line => ({ op: "remove", text })), ...b.map((text): Line => ({ op: "add", text }))];
}

function myers(a: string[], b: string[]): Line[] | null {
  const limit = Math.min(a.length + b.length, EDIT_LIMIT);
  const centre = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const at = (index: number): number => furthest[index] ?? 0;
  const trail: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trail.push(furthest.slice(centre - edits - 1, centre + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = diagonal === -edits || (diagonal !== edits && at(centre + diagonal - 1) < at(centre + diagonal + 1));
      let x = down ? at(centre + diagonal + 1) : at(centre + diagonal - 1) + 1;
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      furthest[centre + diagonal] = x;
      if (x >= a.length && y >= b.length) return walkBack(trail, a, b);
    }
  }
  return null;
}

function walkBack(trail: Int32Array[], a: string[], b: string[]): Line[] {
  const path: Line[] = [];
  let x = a.length;
  let y = b.length;
  const same = (): void => {
    x -= 1;
    y -= 1;
    path.push({ op: "same", text: a[x] ?? "" });
  };
  for (let step = trail.length - 1; step > 0; step -= 1) {
    const at = (diagonal: number): number => trail[step]?.[diagonal + step + 1] ?? 0;
    const diagonal = x - y;
    const down = diagonal === -step || (diagonal !== step && at(diagonal - 1) < at(diagonal + 1));
    const afterEdit = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
    while (x > afterEdit) same();
    if (down) {
      y -= 1;
      path.push({ op: "add", text: b[y] ?? "" });
    } else {
      x -= 1;
      path.push({ op: "remove", text: a[x] ?? "" });
    }
  }
  while (x > 0 && y > 0) same();
  return path.reverse();
}

/** Keeps a few equal lines around each change and says how many others there are. */
export function foldSame(lines: readonly Line[], around: number): (Line | Skip)[] {
  const out: (Line | Skip)[] = [];
  let index = 0;
  while (index < lines.length) {
    let end = index;
    while (lines[end]?.op === "same") end += 1;
    const head = index === 0 ? 0 : around;
    const tail = end === lines.length ? 0 : around;
    if (end - index > head + tail + 3) {
      out.push(...lines.slice(index, index + head), { op: "skip", lines: end - index - head - tail }, ...lines.slice(end - tail, end));
    } else {
      out.push(...lines.slice(index, end));
    }
    const change = lines[end];
    if (change) out.push(change);
    index = end + 1;
  }
  return out;
}
