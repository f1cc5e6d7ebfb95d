// The parts of the page's script that need no browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const scripts = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../crates/chitin/src/page/script");
const load = (name, ...exported) => new Function(`${readFileSync(path.join(scripts, name), "utf8")};return {${exported}}`)();
const { diffLines, firstDifference, foldEqual } = load("diff.js", "diffLines", "firstDifference", "foldEqual");
const { squarify, squarifyGroups } = load("treemap.js", "squarify", "squarifyGroups");
const { RowMaker, utf8Length } = load("model.js", "RowMaker", "utf8Length");

/** Numbers that look random and are the same each time. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

function apply(edits, a, b) {
  for (const [sign, first, second] of edits) if (sign === " ") assert.equal(a[first], b[second]);
  assert.deepEqual(edits.filter((edit) => edit[0] !== "+").map((edit) => a[edit[1]]), a);
  assert.deepEqual(edits.filter((edit) => edit[0] !== "-").map((edit) => b[edit[2]]), b);
}

function longestCommon(a, b) {
  let above = new Array(b.length + 1).fill(0);
  for (const left of a) {
    const row = [0];
    b.forEach((right, at) => row.push(left === right ? above[at] + 1 : Math.max(above[at + 1], row[at])));
    above = row;
  }
  return above[b.length];
}

test("a diff leads from one text to the other, and is the shortest", () => {
  const random = numbers(7);
  const some = () => Array.from({ length: random(14) }, () => "abc"[random(3)]);
  for (let round = 0; round < 3000; round += 1) {
    const [a, b] = [some(), some()];
    const { edits, coarse } = diffLines(a, b);
    apply(edits, a, b);
    assert.equal(coarse, false);
    assert.equal(edits.filter((edit) => edit[0] === " ").length, longestCommon(a, b));
  }
});

test("texts that differ everywhere are compared in blocks, and quickly", () => {
  const random = numbers(11);
  const some = () => Array.from({ length: 30_000 }, () => `line ${random(20_000)}`);
  const [a, b] = [some(), some()];
  const begin = Date.now();
  const { edits, coarse } = diffLines(a, b);
  assert.ok(Date.now() - begin < 4000);
  assert.equal(coarse, true);
  apply(edits, a, b);
});

test("folding hides equal lines and loses none", () => {
  const a = Array.from({ length: 100 }, (_, line) => `${line}`);
  const b = a.with(50, "changed");
  const folded = foldEqual(diffLines(a, b).edits, 3);
  const open = folded.flatMap((edit) => (edit[0] === "fold" ? edit[1] : [edit]));
  apply(open, a, b);
  assert.ok(folded.length < 12);
});

test("the first difference is counted in bytes", () => {
  assert.equal(firstDifference("same", "same"), null);
  assert.equal(firstDifference("é1", "é2"), 2);
  assert.equal(firstDifference("abc", "abcd"), 3);
});

test("tiles keep their proportions, stay inside and do not overlap", () => {
  const random = numbers(3);
  for (let round = 0; round < 300; round += 1) {
    const weights = Array.from({ length: 1 + random(25) }, () => 1 + random(1000) ** (1 + random(2)));
    const places = squarify(weights, 0, 0, 640, 360);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    places.forEach((place, index) => {
      assert.ok(Math.abs(place.width * place.height - (640 * 360 * weights[index]) / sum) < 1);
      assert.ok(place.x >= -0.01 && place.y >= -0.01 && place.x + place.width < 640.01 && place.y + place.height < 360.01);
      for (const other of places.slice(0, index)) {
        const across = Math.min(place.x + place.width, other.x + other.width) - Math.max(place.x, other.x);
        const down = Math.min(place.y + place.height, other.y + other.height) - Math.max(place.y, other.y);
        assert.ok(across < 0.01 || down < 0.01);
      }
    });
  }
  assert.deepEqual(squarify([0, 0], 0, 0, 10, 10).map((place) => place.width), [0, 0]);
  assert.equal(squarifyGroups([[3, 2], [1]], 100, 50, 6).flat().length, 3);
});

test("rows hold every byte, wherever pieces begin and end", () => {
  const random = numbers(5);
  const letters = ["a", "\n", "é", "😀", "b\n", ""];
  for (let round = 0; round < 2000; round += 1) {
    const maker = new RowMaker();
    let all = "";
    for (let owner = 0; owner < 4; owner += 1) {
      maker.begin(owner);
      for (let piece = 0; piece < 3; piece += 1) {
        const text = Array.from({ length: random(5) }, () => letters[random(letters.length)]).join("");
        all += text;
        maker.add(text, {}, 1);
      }
    }
    assert.equal(maker.byte, new TextEncoder().encode(all).length);
    assert.equal(utf8Length(all), maker.byte);
    const lines = all.split("\n");
    const joined = lines.map(() => "");
    for (const row of maker.rows) joined[row.number - 1] += row.spans.map((span) => span.text).join("");
    assert.deepEqual(joined, lines);
  }
});
