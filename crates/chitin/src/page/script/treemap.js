// A squarified treemap: rectangles in proportion, as near to squares as a greedy row gets them.

/**
 * Places weights in a rectangle. Returns one rectangle for each weight, in the order given.
 * The largest are placed first; weights that are not positive get an empty rectangle.
 */
function squarify(weights, x, y, width, height) {
  const places = weights.map(() => ({ x, y, width: 0, height: 0 }));
  const order = weights
    .map((weight, index) => ({ weight, index }))
    .filter((item) => item.weight > 0)
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  const total = order.reduce((sum, item) => sum + item.weight, 0);
  if (total === 0 || width <= 0 || height <= 0) return places;

  const scale = (width * height) / total;
  const free = { x, y, width, height };
  let row = [];
  let rowArea = 0;
  const worst = (area, smallest, largest, side) =>
    Math.max((side * side * largest) / (area * area), (area * area) / (side * side * smallest));

  const place = () => {
    const across = free.width >= free.height;
    const thickness = rowArea / (across ? free.height : free.width);
    let offset = 0;
    for (const item of row) {
      const length = item.area / thickness;
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
    rowArea = 0;
  };

  for (const { weight, index } of order) {
    const area = weight * scale;
    const side = Math.min(free.width, free.height);
    if (row.length > 0) {
      const before = worst(rowArea, row[row.length - 1].area, row[0].area, side);
      const after = worst(rowArea + area, area, row[0].area, side);
      if (after > before) place();
    }
    row.push({ area, index });
    rowArea += area;
  }
  place();
  return places;
}

/** Places groups of weights: first the groups, then the weights inside each. Returns the same shape of rectangles. */
function squarifyGroups(groups, width, height, gap) {
  const sums = groups.map((weights) => weights.reduce((sum, weight) => sum + weight, 0));
  return squarify(sums, 0, 0, width, height).map((place, index) => {
    const inset = Math.min(gap / 2, place.width / 4, place.height / 4);
    return squarify(
      groups[index],
      place.x + inset,
      place.y + inset,
      Math.max(0, place.width - 2 * inset),
      Math.max(0, place.height - 2 * inset),
    );
  });
}
