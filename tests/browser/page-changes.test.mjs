// What turns changed, with lines and undo, in a real browser against a real server.

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { openPage, say, serve, shot, signIn } from "./serving.mjs";

const rules = [
  { when: "tool_result", reply: { text: "It is written." } },
  {
    when: "Write the board",
    reply: {
      calls: [
        { name: "write", input: { path: "board.md", content: "# Board\n\noak: 4\n" } },
        { name: "write", input: { path: "plans/<b>spring</b>.md", content: "larch\n" } },
      ],
    },
  },
];

let browser;
let serving;
before(async () => {
  [browser, serving] = await Promise.all([launch(), serve(rules)]);
});
after(async () => {
  await browser?.close();
  await serving?.stop();
});

test("a turn shows its files and lines, and is taken back after a question", async () => {
  const { page, faults, close } = await openPage(browser, serving);
  try {
    await signIn(page, serving, "#/chat");
    await say(page, "Write the board.");
    await page.getByRole("link", { name: "Changes", exact: true }).click();
    const card = page.locator('[data-turn="1"]');
    await card.waitFor();
    const text = await card.textContent();
    assert.match(text, /Write the board\./);
    assert.match(text, /plans\/<b>spring<\/b>\.md/);
    await card.getByRole("button", { name: "Show lines" }).click();
    await card.locator('.diff-line[data-op="add"]').first().waitFor();
    assert.match(await card.locator(".diff").first().textContent(), /oak: 4/);
    await shot(page, "changes");

    // The user has edited a file since: it is left alone unless that is asked for.
    appendFileSync(serving.file("board.md"), "mine\n");
    await card.getByRole("button", { name: "Undo …" }).click();
    const plan = page.getByRole("alertdialog");
    await plan.waitFor();
    assert.match(await plan.textContent(), /left alone\s*board\.md/);
    await shot(page, "changes-undo");
    await plan.getByRole("button", { name: /^Undo \d/ }).click();
    await page.getByRole("status").getByText(/left alone/).waitFor();
    assert.ok(!existsSync(serving.file("plans/<b>spring</b>.md")));
    assert.match(readFileSync(serving.file("board.md"), "utf8"), /oak: 4\nmine/);
    await page.locator('[data-turn="2"]').getByText("Undo to before turn 1").waitFor();
    assert.deepEqual(faults, []);
  } catch (error) {
    await shot(page, "failed-changes");
    throw error;
  } finally {
    await close();
  }
});
