// A squarified treemap: rectangles in proportion, as near to squares as a greedy row gets them.

/** Where something stands. */
export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Places weights in a rectangle. Returns one rectangle for each weight, in the order given. The largest are placed first;
 * weights that are not positive get an empty rectangle.
 */
export function squarify(weights: readonly number[], area: Place): Place[] {
  const places = weights.map(() => ({ x: area.x, y: area.y, width: 0, height: 0 }));
  const order = weights
    .map((weight, index) => ({ weight, index }))
    .filter((item) => item.weight > 0)
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  const total = order.reduce((sum, item) => sum + item.weight, 0);
  if (total === 0 || area.width <= 0 || area.height <= 0) return places;

  const scale = (area.width * area.height) / total;
  const free = { ...area };
  let row: { size: number; index: number }[] = [];
  let rowSize = 0;
  const worst = (size: number, smallest: number, largest: number, side: number): number =>
    Math.max((side * side * largest) / (size * size), (size * size) / (side * side * smallest));

  const place = (): void => {
    const across = free.width >= free.height;
    const thickness = rowSize / (across ? free.height : free.width);
    let offset = 0;
    for (const item of row) {
      const length = item.size / thickness;
      places[item.index] = across
        ? { x: free.x, y: free.y + offset, width: thickness, height: length }
        : { x: free.x + offset, y: free.y, width: length, height: thickness };
      offset += length;
    }
    if (across) {
      free.x += thickness;
      free.width = Math.max(0, free.width - thickness);
    } else {
      free.y += thickness;
      free.height = Math.max(0, free.height - thickness);
    }
    row = [];
    rowSize = 0;
  };

  for (const { weight, index } of order) {
    const size = weight * scale;
    const side = Math.min(free.width, free.height);
    const largest = row[0];
    const smallest = row.at(-1);
    if (largest && smallest) {
      const before = worst(rowSize, smallest.size, largest.size, side);
      const after = worst(rowSize + size, size, largest.size, side);
      if (after > before) place();
    }
    row.push({ size, index });
    rowSize += size;
  }
  place();
  return places;
}
