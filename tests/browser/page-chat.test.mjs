// Talking with an agent in a real browser: real server, real sockets, a model whose every word the test lets go.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { gate } from "./model.mjs";
import { openPage, say, serve, shot, signIn } from "./serving.mjs";

const HOSTILE = `<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2"> [press](javascript:window.pwned=3) <style>body{display:none}</style>`;
const gates = { words: gate(), cut: gate(), child: gate(), stopped: gate(), queued: gate() };
const rules = [
  { when: "[Internal task completion event]", reply: { text: "The lanterns are counted: seven." } },
  { when: "[Subagent Task]: Count the lanterns", reply: { text: [gates.child, "Seven lanterns."] } },
  { when: "Count them", reply: { text: "I send somebody.", calls: [{ name: "sessions_spawn", input: { task: "Count the lanterns", label: "lanterns" } }] } },
  { when: "childSessionKey", reply: { text: "Somebody is on the way." } },
  { when: "What boats", reply: { thinking: "The boats are in a file.", text: "Let me look.", calls: [{ name: "read", input: { path: "docs/boats.md" } }] } },
  { when: "Boats in the yard", reply: { text: ["There are **four** ", gates.words, "boats."] } },
  { when: "Cut me off", reply: { thinking: "Slowly now.", text: ["The first half, ", gates.cut, "and the second."] } },
  { when: "Never end", reply: { text: ["I begin ", gates.stopped, "and never end."] } },
  { when: "Slowly", reply: { text: ["Slow ", gates.queued, "answer."] } },
  { when: "And then", reply: { text: "Then this." } },
  { when: "hostile", reply: { text: `Look: ${HOSTILE}` } },
];

let browser;
let serving;
before(async () => {
  [browser, serving] = await Promise.all([launch(), serve(rules)]);
});
after(async () => {
  for (const one of Object.values(gates)) one.open();
  await browser?.close();
  await serving?.stop();
});

/** Opens the page, signed in at an address, and checks at the end that nothing went wrong meanwhile. */
async function visit(hash, body) {
  const { page, faults, close } = await openPage(browser, serving);
  try {
    await signIn(page, serving, hash);
    await body(page);
    assert.deepEqual(faults, []);
  } catch (error) {
    await shot(page, "failed-chat");
    throw error;
  } finally {
    await close();
  }
}

test("words are shown as they come, with the tool call before them, and the records say the same", () =>
  visit("#/chat/agent:main:boats", async (page) => {
    await page.locator("#composer").fill("What boats are in the yard?");
    await page.keyboard.press("Enter");
    const growing = page.locator(".entry[data-growing]");
    await growing.getByText("There are four").waitFor();
    assert.equal(await page.locator("#composer").inputValue(), "");
    assert.equal(await growing.getByText("boats.", { exact: false }).count(), 0);
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await shot(page, "chat-streaming");
    gates.words.open();
    await page.locator(".log").getByText("There are four boats.").waitFor();
    await page.locator(".log[aria-busy=false]").waitFor();
    assert.equal(await growing.count(), 0);
    assert.match(await page.locator("#spoken").textContent(), /The agent said: There are \*\*four\*\* boats\./);
    const check = async () => {
      const tool = page.locator("details.tool");
      assert.equal(await tool.count(), 1);
      assert.match(await tool.locator("summary").textContent(), /read\s*docs\/boats\.md\s*done/);
      await tool.locator("summary").click();
      assert.match(await tool.getByLabel("Result").textContent(), /Kittiwake/);
      assert.match(await page.locator("details.thinking").textContent(), /The boats are in a file\./);
      assert.equal(await page.locator(".entry[data-role=user]").count(), 1);
      assert.equal(await page.locator(".prose strong").textContent(), "four");
    };
    await check();
    await shot(page, "chat");
    await page.reload();
    await page.locator(".log").getByText("There are four boats.").waitFor();
    await check();
  }));

test("a run that the agent begins appears, runs and ends before one's eyes", () =>
  visit("#/chat/agent:main:lamps", async (page) => {
    await page.locator("#composer").fill("Count them for me.");
    await page.keyboard.press("Enter");
    await page.locator(".log").getByText("Somebody is on the way.").waitFor();
    await page.getByRole("link", { name: "Sessions" }).click();
    const child = page.locator('.tree-row[data-depth="1"]', { hasText: "lanterns" });
    await child.and(page.locator('[data-state="running"]')).waitFor();
    await page.locator("nav .badge").waitFor();
    await shot(page, "sessions-running");
    gates.child.open();
    await child.and(page.locator('[data-state="idle"]')).waitFor();
    await page.locator("nav .badge").waitFor({ state: "detached" });
    await shot(page, "sessions");
    await child.getByRole("link", { name: "lanterns", exact: true }).click();
    await page.locator(".log").getByText("Seven lanterns.").waitFor();
    await page.goto(`${serving.url}/#/chat/agent:main:lamps`);
    await page.locator(".log").getByText("The lanterns are counted: seven.").waitFor();
    assert.equal(await page.locator(".entry[data-role=runtime] summary").count(), 1);
  }));

test("a turn can be stopped", () =>
  visit("#/chat/agent:main:endless", async (page) => {
    await page.locator("#composer").fill("Never end, please.");
    await page.keyboard.press("Enter");
    await page.locator(".log").getByText("I begin").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".log[aria-busy=false]").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  }));

test("what is said while a turn runs is shown as waiting, and answered", () =>
  visit("#/chat/agent:main:queue", async (page) => {
    await page.locator("#composer").fill("Slowly.");
    await page.keyboard.press("Enter");
    await page.locator(".entry[data-growing]").waitFor();
    await page.locator("#composer").fill("And then?");
    await page.keyboard.press("Enter");
    await page.locator(".entry[data-pending]", { hasText: /waits for|is put into/ }).waitFor();
    gates.queued.open();
    await page.locator(".log").getByText("Then this.").waitFor();
    await page.locator(".entry[data-pending]").waitFor({ state: "detached" });
    assert.equal(await page.locator(".entry[data-role=user]").count(), 2);
  }));

test("HTML and scripts in messages are text, whoever says them", () =>
  visit("#/chat/agent:main:hostile", async (page) => {
    await say(page, `Be hostile: ${HOSTILE}`);
    assert.equal(await page.locator(".written").textContent(), `Be hostile: ${HOSTILE}`);
    await page.locator(".prose").getByText("<script>window.pwned = 1</script>").waitFor();
    assert.equal(await page.locator(".log script, .log img, .log style, .log a").count(), 0);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    await shot(page, "chat-hostile");
  }));

test("a picture goes along, and is shown", () =>
  visit("#/chat/agent:main:picture", async (page) => {
    const dot = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");
    await page.locator("input[type=file]").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: dot });
    await page.locator(".pictures img").waitFor();
    await say(page, "And then, what is this?");
    assert.equal(await page.locator(".entry[data-role=user] img.picture").count(), 1);
    assert.ok(serving.model.requests.some((request) => JSON.stringify(request.messages.at(-1)).includes("image/png")));
    await page.locator("input[type=file]").setInputFiles({ name: "page.html", mimeType: "text/html", buffer: dot });
    await page.getByRole("alert").getByText("is no picture").waitFor();
  }));

test("a line that is cut in the middle of an answer is mended, and the answer is whole", async () => {
  const { page, faults, close } = await openPage(browser, serving);
  try {
    const lines = [];
    await page.routeWebSocket(/\/api\/socket$/, (line) => {
      line.connectToServer();
      lines.push(line);
    });
    await signIn(page, serving, "#/chat/agent:main:cut");
    await page.locator("#composer").fill("Cut me off.");
    await page.keyboard.press("Enter");
    await page.locator(".entry[data-growing]").getByText("The first half,").waitFor();
    await lines.at(-1).close({ code: 4000, reason: "cut" });
    await page.locator('.status:not([data-state="open"])').waitFor();
    await page.locator('.status[data-state="open"]').waitFor();
    gates.cut.open();
    await page.locator(".log").getByText("The first half, and the second.", { exact: true }).waitFor();
    await page.locator(".log[aria-busy=false]").waitFor();
    assert.equal(await page.locator(".log").getByText("and the second.").count(), 1);
    assert.equal(await page.locator(".entry").count(), 2);
    assert.equal(lines.length, 2);
    assert.deepEqual(faults, []);
  } finally {
    await close();
  }
});

test("a second tab that signs in does not shut out the first", async () => {
  const first = await openPage(browser, serving);
  try {
    await signIn(first.page, serving, "#/chat/agent:main:tabs");
    await first.context.clearCookies();
    const second = await first.context.newPage();
    await second.goto(`${serving.url}/`);
    await second.getByLabel("Token of the server").fill(serving.token);
    await second.getByRole("button", { name: "Sign in" }).click();
    await second.locator('.status[data-state="open"]').waitFor({ state: "attached" });
    const refused = first.page.waitForResponse((answer) => answer.status() === 403);
    await say(first.page, "And then in the first tab?");
    assert.equal((await (await refused).json()).error.code, "bad_csrf");
    assert.equal(await first.page.locator(".entry[data-role=user]").count(), 1);
  } finally {
    await first.close();
  }
});

test("a server that goes away and comes back costs no word, and one stays signed in", () =>
  visit("#/chat/agent:main:stay", async (page) => {
    await say(page, "And then before?");
    await serving.kill();
    await page.getByText("The connection is lost.").waitFor();
    await page.locator("#composer").fill("And then, while nobody heard?");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send again" }).waitFor();
    await page.locator("#composer").fill("A thought that is not finished");
    await serving.restart();
    const body = JSON.stringify({ text: "And then from elsewhere?", session: "agent:main:stay", wait: true });
    assert.equal((await serving.ask("/api/messages", { method: "POST", body })).status, 200);
    await page.locator('.status[data-state="open"]').waitFor({ state: "attached" });
    await page.locator(".log").getByText("And then from elsewhere?").waitFor();
    assert.equal(await page.locator("#composer").inputValue(), "A thought that is not finished");
    // The proof that the page had before is still good: what could not be sent is sent now.
    await page.getByRole("button", { name: "Send again" }).click();
    await page.locator(".log").getByText("Then this.").nth(2).waitFor();
    await page.locator(".entry[data-pending]").waitFor({ state: "detached" });
    assert.deepEqual(await page.locator(".written").allTextContents(), ["And then before?", "And then from elsewhere?", "And then, while nobody heard?"]);
    assert.equal(await page.getByLabel("Token of the server").count(), 0);
  }));

test("a server that knows nobody any more asks for the token, and what was typed is kept", () =>
  visit("#/chat/agent:main:gap", async (page) => {
    await say(page, "And then before?");
    await serving.kill();
    await page.locator('.status[data-state="waiting"], .status[data-state="connecting"]').waitFor();
    await page.getByText("The connection is lost.").waitFor();
    await page.locator("#composer").fill("Said while nobody heard.");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send again" }).waitFor();
    await page.locator("#composer").fill("A thought that is not finished");
    await shot(page, "connection-lost");
    serving.forgetLogins();
    await serving.restart();
    const body = JSON.stringify({ text: "And then from elsewhere?", session: "agent:main:gap", wait: true });
    assert.equal((await serving.ask("/api/messages", { method: "POST", body })).status, 200);
    // One signs in again, at the same place, with everything that was typed.
    await page.getByText("nothing that you typed is lost").waitFor();
    await page.getByLabel("Token of the server").fill(serving.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".log").getByText("And then from elsewhere?").waitFor();
    const draft = await page.locator("#composer").inputValue();
    assert.match(draft, /Said while nobody heard\.\nA thought that is not finished/);
    await page.locator('.status[data-state="open"]').waitFor({ state: "attached" });
    await page.keyboard.press("c");
    await page.locator("#composer").fill("And then again?");
    await page.keyboard.press("Enter");
    await page.locator(".log").getByText("Then this.").nth(2).waitFor();
    await page.locator(".entry[data-pending]").waitFor({ state: "detached" });
    assert.deepEqual(await page.locator(".written").allTextContents(), ["And then before?", "And then from elsewhere?", "And then again?"]);
  }));
