// Trees, files that are edited, addresses, what is kept.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, path, query } from "../src/api/http.ts";
import type { GatewayEvent, TreeSession } from "../src/api/types.ts";
import { conflicted, draftOf, isDirty, open, saved, settle, typed } from "../src/state/editing.ts";
import { Keep } from "../src/state/keep.ts";
import { readRoute, routeTo } from "../src/state/route.ts";
import { applyToTree, asTree, rows } from "../src/state/tree.ts";

const session = (key: string, more: Partial<TreeSession> = {}): TreeSession => ({ key, agentId: "main", kind: "main", state: "idle", updatedAt: 1, ...more });
const happens = (kind: GatewayEvent["kind"], sessionKey: string, more: Partial<GatewayEvent> = {}): GatewayEvent => ({ seq: 0, at: 9, sessionKey, jobId: "j", kind, ...more });

test("a run appears under the session that began it, runs, and rests when it is over", () => {
  let sessions: readonly TreeSession[] = [session("agent:main:main")];
  const step = (happening: GatewayEvent): void => void ({ sessions } = applyToTree(sessions, happening));
  step(happens("turn", "agent:main:main", { event: { type: "turn-started" } }));
  step(happens("spawned", "agent:main:main", { child: "agent:main:subagent:1" }));
  assert.deepEqual(rows(asTree(sessions)).map((row) => [row.session.key, row.depth, row.session.state]), [["agent:main:main", 0, "running"], ["agent:main:subagent:1", 1, "running"]]);
  step(happens("finished", "agent:main:subagent:1"));
  step(happens("finished", "agent:main:main"));
  assert.deepEqual(sessions.map((one) => one.state), ["idle", "idle"]);
});

test("sessions that are each other's parents are all shown", () => {
  const circle = [session("a", { parent: "b" }), session("b", { parent: "c" }), session("c", { parent: "a" }), session("d", { parent: "nobody" })];
  assert.deepEqual(rows(asTree(circle)).map((row) => row.session.key).sort(), ["a", "b", "c", "d"]);
});

test("what was typed while a save was under way is not taken for saved", () => {
  let editing = open({ path: "SOUL.md", text: "old", version: "1" }, null);
  editing = typed(editing, "new");
  editing = typed(editing, "newer");
  editing = saved(editing, "new", "2");
  assert.ok(isDirty(editing));
  assert.equal(editing.version, "2");
});

test("a draft goes on where it was left, and a save of it still finds what changed meanwhile", () => {
  const left = typed(open({ path: "SOUL.md", text: "old", version: "1" }, null), "mine");
  const again = open({ path: "SOUL.md", text: "theirs", version: "2" }, draftOf(left));
  assert.equal(again.text, "mine");
  assert.equal(again.version, "1");
  assert.equal(draftOf(open({ path: "SOUL.md", text: "old", version: "1" }, null)), "");
  assert.equal(open({ path: "SOUL.md", text: "old", version: "1" }, "{broken").text, "old");
});

test("a conflict ends with the text that was chosen, against what the disk has now", () => {
  const mine = conflicted(typed(open({ path: "a", text: "old", version: "1" }, null), "mine"), { text: "theirs", version: "2" });
  assert.deepEqual([settle(mine, "disk").text, isDirty(settle(mine, "disk"))], ["theirs", false]);
  assert.deepEqual([settle(mine, "ours").text, settle(mine, "ours").version, isDirty(settle(mine, "ours"))], ["mine", "2", true]);
});

test("an address leads back to where it came from", () => {
  for (const rest of [[], ["agent:main:main"], ["main", "memory", "2026 03/ä%.md"]]) assert.deepEqual(readRoute(routeTo("files", ...rest)), { view: "files", rest });
  assert.deepEqual(readRoute("#/nowhere/x"), { view: "chat", rest: [] });
  assert.deepEqual(readRoute("#/chat/%E0%A4%A"), { view: "chat", rest: ["%E0%A4%A"] });
});

test("what is typed is kept even when the browser keeps nothing", () => {
  const keep = new Keep("draft", () => {
    throw new Error("forbidden");
  });
  keep.set("a", "words");
  assert.equal(keep.get("a"), "words");
  keep.set("a", "");
  assert.equal(keep.get("a"), null);
});

test("names in a path cannot leave their place", () => {
  assert.equal(path`/api/sessions/${"agent:main:../x?y#z"}/stop`, "/api/sessions/agent%3Amain%3A..%2Fx%3Fy%23z/stop");
  assert.equal(query("/api/x", { q: "a&b", limit: 2, none: undefined, empty: "" }), "/api/x?q=a%26b&limit=2");
});

test("everything that changes something carries the page's own word, and a refusal says what the server said", async () => {
  const asked: RequestInit[] = [];
  const answers = [new Response("{}"), new Response(JSON.stringify({ error: { code: "conflict", message: "Changed.", hint: "Look." } }), { status: 409 })];
  const client = new Client((_, init) => {
    asked.push(init);
    return Promise.resolve(answers.shift() ?? new Response("{}"));
  });
  client.csrf = "word";
  await client.get("/api/me");
  await assert.rejects(client.send("PUT", "/api/agents/main/file", { text: "" }), { status: 409, code: "conflict", message: "Changed.", hint: "Look." });
  assert.equal((asked[0]?.headers as Record<string, string>)["x-chitin-csrf"], undefined);
  assert.equal((asked[1]?.headers as Record<string, string>)["x-chitin-csrf"], "word");
});

test("when another tab signed in, the new word is asked for and the wish goes through, once", async () => {
  const asked: [string, string | undefined][] = [];
  const client = new Client((address, init) => {
    const word = (init.headers as Record<string, string>)["x-chitin-csrf"];
    asked.push([address, word]);
    if (address === "/api/me") return Promise.resolve(new Response('{"csrf":"new"}'));
    return Promise.resolve(word === "new" ? new Response("{}") : new Response('{"error":{"code":"bad_csrf","message":"No."}}', { status: 403 }));
  });
  client.csrf = "old";
  await client.send("POST", "/api/messages", {});
  assert.deepEqual(asked, [["/api/messages", "old"], ["/api/me", undefined], ["/api/messages", "new"]]);
});
