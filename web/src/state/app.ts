// What the whole page shares: who is signed in, what is heard, where one is.

import { ApiError, Client, explain, query } from "../api/http.ts";
import { Live, type LiveState, openSocket } from "../api/live.ts";
import type { Agent, AgentList, ApprovalList, GatewayEvent, LoginReply, Me, SessionTree, TreeSession } from "../api/types.ts";
import { applyApproval, type SeenApproval, withPending } from "./approvals.ts";
import { Keep } from "./keep.ts";
import { readRoute, type Route } from "./route.ts";
import { Signal } from "./signal.ts";
import { applyToTree } from "./tree.ts";

export const client = new Client();

/** Null as long as nobody is signed in, undefined as long as that is not known. */
export const me = new Signal<Me | null | undefined>(undefined);
export const live = new Signal<LiveState>("off");
export const route = new Signal<Route>(readRoute(location.hash));
export const agents = new Signal<readonly Agent[]>([]);
/** The sessions that were loaded: the busy ones, and of the others those that were used last. */
export const tree = new Signal<readonly TreeSession[]>([]);
/** How many sessions there are, and where the next ones begin, if there are more than were loaded. */
export const beyond = new Signal<{ total: number; next: string | undefined }>({ total: 0, next: undefined });
/** The questions for permission that this page saw. */
export const approvals = new Signal<readonly SeenApproval[]>([]);
/** Counts up when something may have been missed, or was changed elsewhere. */
export const gaps = new Signal(0);
/** What a screen reader is told, besides what it reads. */
export const spoken = new Signal("");
/** Something that went wrong at a place that cannot show it. */
export const trouble = new Signal<{ message: string; hint: string } | null>(null);
/** Why one has to sign in again, if one has to. */
export const farewell = new Signal("");

export const drafts = new Keep("draft", () => sessionStorage);

const listeners = new Set<(happening: GatewayEvent) => void>();
/** Hears of everything that happens, until the function that it returns is called. */
export function hear(listener: (happening: GatewayEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const line = new Live({
  connect: openSocket,
  known: async () => {
    try {
      accept(await client.get<Me>("/api/me"));
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return false;
      throw error;
    }
  },
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
});
line.onState = (state) => {
  live.value = state;
};
line.onGap = () => {
  gaps.value += 1;
  void loadTree();
  void loadApprovals();
};
line.onGatewayEvent = (happening) => {
  const { sessions, stale } = applyToTree(tree.value, happening);
  tree.value = sessions;
  if (stale) loadTreeSoon();
  const before = approvals.value;
  approvals.value = applyApproval(before, happening);
  const asked = approvals.value.length > before.length ? approvals.value.at(-1)?.asked : undefined;
  if (asked) spoken.value = `${asked.tool} asks for permission: ${asked.what}`;
  for (const listener of [...listeners]) listener(happening);
};

client.onSignedOut = () => signedOut("The server does not know this page any more. Sign in again: nothing that you typed is lost.");
line.onSignedOut = client.onSignedOut;

function accept(who: Me): void {
  client.csrf = who.csrf ?? "";
  me.value = { ...me.value, ...who };
}

function signedOut(why: string): void {
  if (me.value === null) return;
  client.csrf = "";
  farewell.value = me.value ? why : "";
  me.value = null;
  approvals.value = [];
  line.stop();
}

/** Begins: asks whether the cookie is still good. */
export async function begin(): Promise<void> {
  addEventListener("hashchange", () => {
    route.value = readRoute(location.hash);
  });
  addEventListener("online", () => line.retry());
  addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") line.retry();
  });
  try {
    accept(await client.get<Me>("/api/me"));
    await enter();
  } catch (error) {
    me.value = null;
    if (error instanceof ApiError && error.status !== 401) trouble.value = explain(error);
  }
}

/** Signs in with the token, which is not kept anywhere. */
export async function signIn(token: string): Promise<void> {
  const who = await client.send<LoginReply>("POST", "/api/login", { token });
  client.csrf = who.csrf;
  accept(await client.get<Me>("/api/me"));
  farewell.value = "";
  trouble.value = null;
  await enter();
}

export async function signOut(): Promise<void> {
  try {
    await client.send("POST", "/api/logout", {});
  } catch (error) {
    // Then the server knows us no more already, or cannot be reached: it forgets us by itself.
    if (!(error instanceof ApiError)) throw error;
  }
  signedOut("");
}

async function enter(): Promise<void> {
  line.start();
  const [listed] = await Promise.all([client.get<AgentList>("/api/agents"), loadTree(), loadApprovals()]);
  agents.value = listed.agents ?? [];
  gaps.value += 1;
}

/** How many sessions are loaded at a time, and how many at most are loaded again when something happens. */
const PAGE = 100;
const MOST = 2000;
let shown = 0;

export async function loadTree(): Promise<void> {
  try {
    // Who has asked for more keeps it.
    const limit = Math.min(Math.max(PAGE, shown), MOST);
    const { sessions, total, next } = await client.get<SessionTree>(query("/api/tree", { limit }));
    tree.value = sessions;
    beyond.value = { total, next };
  } catch (error) {
    if (error instanceof ApiError && (error.isOffline || error.status === 401)) return;
    trouble.value = explain(error);
  }
}

/** Loads the sessions that come after those that were loaded. */
export async function loadMoreOfTree(): Promise<void> {
  const after = beyond.value.next;
  if (!after) return;
  try {
    const { sessions, total, next } = await client.get<SessionTree>(query("/api/tree", { after, limit: PAGE }));
    // One that was used meanwhile went to the front, and is there already.
    const known = new Set(tree.value.map((session) => session.key));
    tree.value = [...tree.value, ...sessions.filter((session) => !known.has(session.key))];
    shown = tree.value.length;
    beyond.value = { total, next };
  } catch (error) {
    trouble.value = explain(error);
  }
}

/** Asks for the questions that wait. */
async function loadApprovals(): Promise<void> {
  try {
    const { pending } = await client.get<ApprovalList>("/api/approvals");
    approvals.value = withPending(approvals.value, pending, Date.now());
  } catch (error) {
    if (error instanceof ApiError && (error.isOffline || error.status === 401)) return;
    trouble.value = explain(error);
  }
}

let soon: ReturnType<typeof setTimeout> | undefined;
function loadTreeSoon(): void {
  soon ??= setTimeout(() => {
    soon = undefined;
    void loadTree();
  }, 150);
}

/** The agent that messages go to if nothing else is said. */
export function defaultAgent(): string {
  return (agents.value.find((agent) => agent.isDefault) ?? agents.value[0])?.id ?? "main";
}

/** The session that chat and lens show: the one of the address, or the default agent's main one. */
export function chosenSession(): string {
  const { view, rest } = route.value;
  const named = view === "chat" || view === "lens" ? rest[0] : undefined;
  return named ?? `agent:${defaultAgent()}:main`;
}
