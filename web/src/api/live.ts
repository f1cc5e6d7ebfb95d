// Hears what happens, over a WebSocket that comes back by itself.

import type { GatewayEvent } from "./types.ts";

export type LiveState = "off" | "connecting" | "open" | "waiting";

/** The part of a WebSocket that is used. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
}

/** What the outside gives. Handed in, so that tests need neither a network nor a clock. */
export interface Outside {
  connect(): Socket;
  /** Asks whether we are still known; a promise that fails says that the server is away. */
  known(): Promise<boolean>;
  later(run: () => void, ms: number): () => void;
  random(): number;
}

const SHORTEST_WAIT = 400;
const LONGEST_WAIT = 15_000;
/** How long nothing may be heard before the line is taken for dead. The server answers every ping. */
const PING_EVERY = 20_000;

/** How long to wait before try number `attempt`, from 0: twice as long each time, and not all pages at once. */
export function backOff(attempt: number, random: number): number {
  const longest = Math.min(LONGEST_WAIT, SHORTEST_WAIT * 2 ** Math.min(attempt, 16));
  return Math.round(longest * (0.5 + random / 2));
}

export class Live {
  state: LiveState = "off";
  /** How many times in a row it could not be reached. */
  failures = 0;
  onState: (state: LiveState) => void = () => {};
  onGatewayEvent: (happening: GatewayEvent) => void = () => {};
  /** Something was or may have been missed: what is shown must be asked for again. */
  onGap: () => void = () => {};
  onSignedOut: () => void = () => {};
  /** The server says that it ends. */
  onEnding: () => void = () => {};

  private socket: Socket | null = null;
  private cancel: () => void = () => {};
  private heard = true;
  private wasOpen = false;
  private lastSeq = -1;

  constructor(private readonly outside: Outside) {}

  start(): void {
    if (this.state !== "off") return;
    this.failures = 0;
    this.wasOpen = false;
    this.connect();
  }

  stop(): void {
    this.cancel();
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.become("off");
  }

  /** Tries at once instead of waiting on. */
  retry(): void {
    if (this.state !== "waiting") return;
    this.cancel();
    void this.again();
  }

  private become(state: LiveState): void {
    this.state = state;
    this.onState(state);
  }

  private connect(): void {
    this.become("connecting");
    const socket = this.outside.connect();
    this.socket = socket;
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.failures = 0;
      this.lastSeq = -1;
      socket.send(JSON.stringify({ type: "subscribe", all: true, answers: true, id: "all" }));
    };
    socket.onmessage = (message) => {
      if (this.socket === socket) this.hear(String(message.data));
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.lost();
    };
  }

  private hear(text: string): void {
    this.heard = true;
    let told: { type?: string; seq?: number };
    try {
      told = JSON.parse(text) as { type?: string; seq?: number };
    } catch {
      return;
    }
    switch (told.type) {
      case "subscribed":
        this.become("open");
        this.watchLine();
        if (this.wasOpen) this.onGap();
        this.wasOpen = true;
        break;
      case "happening": {
        const seq = told.seq ?? 0;
        // The same happening is never told twice, not even after a reconnection that overlaps.
        if (seq <= this.lastSeq) break;
        this.lastSeq = seq;
        this.onGatewayEvent(told as unknown as GatewayEvent);
        break;
      }
      case "missed":
        this.onGap();
        break;
      case "draining":
        this.onEnding();
        break;
      default:
        break;
    }
  }

  private watchLine(): void {
    this.heard = true;
    const check = (): void => {
      if (!this.heard) {
        this.lost();
        return;
      }
      this.heard = false;
      this.socket?.send(JSON.stringify({ type: "ping" }));
      this.cancel = this.outside.later(check, PING_EVERY);
    };
    this.cancel = this.outside.later(check, PING_EVERY);
  }

  private lost(): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.cancel();
    this.become("waiting");
    this.cancel = this.outside.later(() => void this.again(), backOff(this.failures, this.outside.random()));
    this.failures += 1;
  }

  private async again(): Promise<void> {
    this.become("connecting");
    try {
      const known = await this.outside.known();
      if (this.state !== "connecting") return;
      if (known) {
        this.connect();
      } else {
        this.stop();
        this.onSignedOut();
      }
    } catch {
      if (this.state === "connecting") this.lost();
    }
  }
}

/** A real WebSocket to the server that the page came from. The cookie goes along; nothing secret is in the address. */
export function openSocket(): Socket {
  const address = new URL("/api/socket", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(address, ["chitin"]) as unknown as Socket;
}
