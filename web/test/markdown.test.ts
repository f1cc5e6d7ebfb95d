// Reading Markdown: what people write comes out as they mean it, and nothing in it can do anything.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, type Inline, readInline, readMarkdown, safeAddress } from "../src/text/markdown.ts";

/** Numbers that look random and are the same each time. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

const words = (inlines: Inline[]): string =>
  inlines.map((inline) => ("text" in inline ? inline.text : "children" in inline ? words(inline.children) : " ")).join("");

function allInlines(blocks: Block[]): Inline[] {
  return blocks.flatMap((block) => {
    switch (block.kind) {
      case "paragraph":
      case "heading":
        return block.children;
      case "quote":
        return allInlines(block.children);
      case "list":
        return block.items.flatMap(allInlines);
      case "table":
        return [...block.head, ...block.rows.flat()].flat();
      default:
        return [];
    }
  });
}

test("paragraphs, headings, lists, quotes, tables and code are told apart", () => {
  const text = "# Boats\n\nTwo of *them*.\n\n- oak\n- larch\n  1. sawn\n  2. dry\n\n> soon\n\n| hull | state |\n|---|---|\n| 41 | planked |\n\n```sh\nls -l\n```\n---\n";
  const blocks = readMarkdown(text);
  assert.deepEqual(blocks.map((block) => block.kind), ["heading", "paragraph", "list", "quote", "table", "code", "rule"]);
  const list = blocks[2];
  assert.ok(list?.kind === "list" && list.items.length === 2);
  assert.equal(list.items[1]?.[1]?.kind, "list");
  assert.deepEqual(blocks[5], { kind: "code", language: "sh", text: "ls -l" });
});

test("marks inside words and marks that are never closed are only characters", () => {
  assert.deepEqual(readInline("snake_case_name and 2 * 3 * 4"), [{ kind: "text", text: "snake_case_name and 2 * 3 * 4" }]);
  assert.deepEqual(readInline("a `b"), [{ kind: "text", text: "a `b" }]);
  assert.deepEqual(readInline("**bold** _soft_ ~~gone~~ `x*y`").map((inline) => inline.kind), ["strong", "text", "emphasis", "text", "deleted", "text", "code"]);
});

test("a code block that is still being written holds what is there", () => {
  assert.deepEqual(readMarkdown("```js\nlet a"), [{ kind: "code", language: "js", text: "let a" }]);
});

test("a link leads to the web or to mail, and never to a script", () => {
  for (const wrong of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "//evil", "/api/logout", "java\nscript:alert(1)", ""]) {
    assert.equal(safeAddress(wrong), null, wrong);
    assert.equal(readInline(`[a](${wrong})`).some((inline) => inline.kind === "link"), false, wrong);
  }
  assert.deepEqual(readInline("[yard](https://example.org/a)"), [{ kind: "link", href: "https://example.org/a", children: [{ kind: "text", text: "yard" }] }]);
  assert.equal(readInline("see https://example.org/a.").find((inline) => inline.kind === "link")?.kind, "link");
});

test("HTML is text", () => {
  const blocks = readMarkdown('<script>alert(1)</script>\n<img src=x onerror="alert(1)">');
  assert.equal(words(allInlines(blocks)), '<script>alert(1)</script> <img src=x onerror="alert(1)">');
});

test("whatever comes, it is read, in time, and no link leads to a script", () => {
  const random = numbers(7);
  const bits = ["*", "**", "_", "`", "```\n", "[", "](", ")", "javascript:x", "https://a.b", "\n", "\n\n", "- ", "  - ", "1. ", "> ", "|", "|---|\n", "# ", "\\", "<b>", "é", "😀", " ", "word"];
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: random(40) }, () => bits[random(bits.length)]).join("");
    const check = (inlines: Inline[]): void => {
      for (const inline of inlines) {
        if (inline.kind === "link") assert.match(inline.href, /^(https?|mailto):/);
        if ("children" in inline) check(inline.children);
      }
    };
    check(allInlines(readMarkdown(text)));
  }
});

test("a hostile text costs no more than a friendly one", () => {
  for (const bit of ["[", "*a ", "`", "**", "_a", "> ", "- ", "  ", "|", "](", "http://"]) {
    const begin = performance.now();
    readMarkdown(bit.repeat(60_000 / bit.length));
    assert.ok(performance.now() - begin < 3000, `${bit}: ${performance.now() - begin} ms`);
  }
});
