// Sessions and the runs that they began, as a tree that moves with what happens.

import type { GatewayEvent, TreeSession } from "../api/types.ts";

export interface Node {
  session: TreeSession;
  depth: number;
  children: Node[];
}

/** Changes the list by what happened; `stale` says that the server knows more than the list can tell. */
export function applyToTree(sessions: readonly TreeSession[], happening: GatewayEvent): { sessions: readonly TreeSession[]; stale: boolean } {
  const known = sessions.some((session) => session.key === happening.sessionKey);
  const change = (more: Partial<TreeSession>): readonly TreeSession[] =>
    sessions.map((session) => (session.key === happening.sessionKey ? { ...session, ...more, updatedAt: happening.at } : session));
  switch (happening.kind) {
    case "accepted":
      if (happening.place !== "runs" && happening.place !== "waits") return { sessions, stale: !known };
      return { sessions: setState(sessions, happening, happening.place === "runs" ? "running" : "waiting"), stale: !known };
    case "turn":
      if (happening.event?.type !== "turn-started") return { sessions, stale: !known && happening.event?.type === "turn-finished" };
      return { sessions: change({ state: "running", jobId: happening.jobId }), stale: !known };
    case "spawned": {
      const child = happening.child ?? "";
      if (!child || sessions.some((session) => session.key === child)) return { sessions, stale: true };
      const agentId = child.split(":")[1] ?? "";
      const added: TreeSession = { key: child, agentId, parent: happening.sessionKey, kind: "subagent", state: "running", updatedAt: happening.at };
      return { sessions: [...sessions, added], stale: true };
    }
    case "finished":
    case "dropped":
      return { sessions: change({ state: "idle" }), stale: true };
    default:
      return { sessions, stale: false };
  }
}

function setState(sessions: readonly TreeSession[], happening: GatewayEvent, state: "running" | "waiting"): readonly TreeSession[] {
  return sessions.map((session) => {
    if (session.key !== happening.sessionKey) return session;
    // What waits behind a turn does not hide that the turn runs.
    return { ...session, state: session.state === "running" ? "running" : state, updatedAt: happening.at };
  });
}

/** Puts sessions under those that began them, the most recently used first. A circle of parents is cut. */
export function asTree(sessions: readonly TreeSession[]): Node[] {
  const nodes = new Map(sessions.map((session) => [session.key, { session, depth: 0, children: [] as Node[] }]));
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = node.session.parent ? nodes.get(node.session.parent) : undefined;
    if (parent && !isUnder(nodes, node.session.parent, node.session.key)) parent.children.push(node);
    else roots.push(node);
  }
  const settle = (list: Node[], depth: number): void => {
    list.sort((a, b) => (b.session.updatedAt ?? 0) - (a.session.updatedAt ?? 0) || a.session.key.localeCompare(b.session.key));
    for (const node of list) {
      node.depth = depth;
      settle(node.children, depth + 1);
    }
  };
  settle(roots, 0);
  return roots;
}

/** Whether following parents from `from` leads to `key`. */
function isUnder(nodes: Map<string, Node>, from: string | undefined, key: string): boolean {
  const seen = new Set<string>();
  for (let at = from; at && !seen.has(at); at = nodes.get(at)?.session.parent) {
    if (at === key) return true;
    seen.add(at);
  }
  return false;
}

/** The tree as rows, parents before their children. */
export function rows(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node) => [node, ...rows(node.children)]);
}
