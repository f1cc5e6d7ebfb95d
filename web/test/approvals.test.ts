// Questions for permission, as the page keeps them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { GatewayEvent, PendingApproval, ResolvedApproval } from "../src/api/types.ts";
import { applyApproval, type SeenApproval, waiting, withPending } from "../src/state/approvals.ts";

const asked = (id: string): PendingApproval => ({
  id, agentId: "main", sessionKey: "agent:main:main", jobId: "job", tool: "exec", what: "make", why: "", askedAt: 0, expiresAt: 600_000,
});
const event = (kind: "approval-requested" | "approval-resolved", approval: PendingApproval | ResolvedApproval): GatewayEvent =>
  ({ seq: 1, at: 0, sessionKey: "agent:main:main", jobId: "job", kind, approval }) as GatewayEvent;

test("a question waits until it is answered, and is told once", () => {
  let now: readonly SeenApproval[] = applyApproval([], event("approval-requested", asked("a")));
  now = applyApproval(now, event("approval-requested", asked("a")));
  assert.equal(waiting(now).length, 1);
  const resolved: ResolvedApproval = { id: "a", outcome: "once", by: "page", at: 1 };
  now = applyApproval(now, event("approval-resolved", resolved));
  assert.equal(waiting(now).length, 0);
  assert.deepEqual(now, [{ asked: asked("a"), resolved }]);
});

test("what the server does not have after a gap is over", () => {
  const now = withPending([{ asked: asked("a") }, { asked: asked("b") }], [asked("b"), asked("c")], 7);
  assert.deepEqual(waiting(now).map((one) => one.asked.id), ["b", "c"]);
  assert.equal(now[0]?.resolved?.outcome, "withdrawn");
});

test("answered questions have a bound, and none that waits is dropped", () => {
  let now: readonly SeenApproval[] = [];
  for (let number = 0; number < 80; number += 1) {
    now = applyApproval(now, event("approval-requested", asked(`q${number}`)));
    if (number > 0) now = applyApproval(now, event("approval-resolved", { id: `q${number}`, outcome: "no", at: 1 }));
  }
  assert.equal(waiting(now)[0]?.asked.id, "q0");
  assert.ok(now.length <= 52, String(now.length));
  assert.equal(now.at(-1)?.asked.id, "q79");
});
