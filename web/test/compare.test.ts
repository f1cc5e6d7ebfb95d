// Differences and tiles.

import assert from "node:assert/strict";
import { test } from "node:test";
import { diffText, foldSame } from "../src/text/diff.ts";
import { squarify } from "../src/text/treemap.ts";
import { numbers } from "./markdown.test.ts";

function longestCommon(a: string[], b: string[]): number {
  let above = new Array<number>(b.length + 1).fill(0);
  for (const left of a) {
    const row = [0];
    b.forEach((right, at) => row.push(left === right ? (above[at] ?? 0) + 1 : Math.max(above[at + 1] ?? 0, row[at] ?? 0)));
    above = row;
  }
  return above[b.length] ?? 0;
}

test("a diff leads from one text to the other, and is the shortest", () => {
  const random = numbers(7);
  const some = (): string => Array.from({ length: 1 + random(14) }, () => "abc"[random(3)]).join("\n");
  for (let round = 0; round < 2000; round += 1) {
    const [before, after] = [some(), some()];
    const lines = diffText(before, after);
    assert.equal(lines.filter((line) => line.op !== "add").map((line) => line.text).join("\n"), before);
    assert.equal(lines.filter((line) => line.op !== "remove").map((line) => line.text).join("\n"), after);
    assert.equal(lines.filter((line) => line.op === "same").length, longestCommon(before.split("\n"), after.split("\n")));
  }
});

test("texts that differ everywhere are compared quickly", () => {
  const random = numbers(11);
  const some = (): string => Array.from({ length: 20_000 }, () => `line ${random(20_000)}`).join("\n");
  const begin = performance.now();
  const [before, after] = [some(), some()];
  const lines = diffText(before, after);
  assert.ok(performance.now() - begin < 5000);
  assert.equal(lines.filter((line) => line.op !== "remove").map((line) => line.text).join("\n"), after);
});

test("folding hides equal lines and counts every one", () => {
  const before = Array.from({ length: 100 }, (_, line) => `${line}`);
  const folded = foldSame(diffText(before.join("\n"), before.with(50, "changed").join("\n")), 3);
  const shown = folded.filter((line) => line.op !== "skip" && line.op !== "add").length;
  const hidden = folded.reduce((sum, line) => sum + (line.op === "skip" ? line.lines : 0), 0);
  assert.equal(shown + hidden, 100);
  assert.ok(folded.length < 12);
});

test("tiles keep their proportions, stay inside and do not overlap", () => {
  const random = numbers(3);
  for (let round = 0; round < 300; round += 1) {
    const weights = Array.from({ length: 1 + random(25) }, () => 1 + random(1000) ** (1 + random(2)));
    const places = squarify(weights, { x: 0, y: 0, width: 640, height: 360 });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    places.forEach((place, index) => {
      assert.ok(Math.abs(place.width * place.height - (640 * 360 * (weights[index] ?? 0)) / sum) < 1);
      assert.ok(place.x >= -0.01 && place.y >= -0.01 && place.x + place.width < 640.01 && place.y + place.height < 360.01);
      for (const other of places.slice(0, index)) {
        const across = Math.min(place.x + place.width, other.x + other.width) - Math.max(place.x, other.x);
        const down = Math.min(place.y + place.height, other.y + other.height) - Math.max(place.y, other.y);
        assert.ok(across < 0.01 || down < 0.01);
      }
    });
  }
  assert.deepEqual(squarify([0, 0], { x: 0, y: 0, width: 10, height: 10 }).map((place) => place.width), [0, 0]);
});
