// Questions for permission: those that wait, and what became of those that this page saw. Values in, new values out.

import type { GatewayEvent, PendingApproval, ResolvedApproval } from "../api/types.ts";

/** A question that this page saw, and what became of it. */
export interface SeenApproval {
  asked: PendingApproval;
  resolved?: ResolvedApproval;
}

/** How many answered questions are shown. */
const MOST_RESOLVED = 50;

/** Takes the list of the server: what it does not have any more and was not told about is over. */
export function withPending(now: readonly SeenApproval[], pending: readonly PendingApproval[], at: number): readonly SeenApproval[] {
  const known = new Set(now.map((one) => one.asked.id));
  const waits = new Set(pending.map((one) => one.id));
  const over = (one: SeenApproval): SeenApproval =>
    one.resolved || waits.has(one.asked.id) ? one : { ...one, resolved: { id: one.asked.id, outcome: "withdrawn", at } };
  const added = pending.filter((one) => !known.has(one.id)).map((asked) => ({ asked }));
  return bounded([...now.map(over), ...added]);
}

export function withResolved(now: readonly SeenApproval[], resolved: ResolvedApproval): readonly SeenApproval[] {
  return now.map((one) => (one.asked.id === resolved.id ? { ...one, resolved } : one));
}

/** Changes the list by what happened. */
export function applyApproval(now: readonly SeenApproval[], happening: GatewayEvent): readonly SeenApproval[] {
  const { approval } = happening;
  if (happening.kind === "approval-requested" && approval && "what" in approval) {
    return now.some((one) => one.asked.id === approval.id) ? now : bounded([...now, { asked: approval as PendingApproval }]);
  }
  if (happening.kind === "approval-resolved" && approval && "outcome" in approval) return withResolved(now, approval as ResolvedApproval);
  return now;
}

export const waiting = (now: readonly SeenApproval[]): SeenApproval[] => now.filter((one) => !one.resolved);

function bounded(all: readonly SeenApproval[]): readonly SeenApproval[] {
  let tooMany = all.filter((one) => one.resolved).length - MOST_RESOLVED;
  return all.filter((one) => !one.resolved || (tooMany -= 1) < 0);
}
