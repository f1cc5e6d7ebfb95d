// The line to the server: it comes back by itself, and says when something may have been missed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { backOff, Live, type Socket } from "../src/api/live.ts";

class World {
  sockets: (Socket & { sent: string[]; closed: boolean })[] = [];
  timers: { run: () => void; ms: number; off: boolean }[] = [];
  known: () => Promise<boolean> = () => Promise.resolve(true);
  gaps = 0;
  signedOut = 0;
  heard: number[] = [];
  readonly live = new Live({
    connect: () => {
      const socket = { sent: [] as string[], closed: false, send: (text: string) => socket.sent.push(text), close: () => (socket.closed = true), onopen: null, onclose: null, onmessage: null } as World["sockets"][0];
      this.sockets.push(socket);
      return socket;
    },
    known: () => this.known(),
    later: (run, ms) => {
      const timer = { run, ms, off: false };
      this.timers.push(timer);
      return () => (timer.off = true);
    },
    random: () => 1,
  });

  constructor() {
    this.live.onGap = () => (this.gaps += 1);
    this.live.onSignedOut = () => (this.signedOut += 1);
    this.live.onGatewayEvent = (happening) => this.heard.push(happening.seq);
  }

  get socket(): World["sockets"][0] {
    return this.sockets.at(-1) ?? assert.fail("no socket");
  }
  tell(value: unknown): void {
    this.socket.onmessage?.({ data: JSON.stringify(value) });
  }
  opens(): void {
    this.socket.onopen?.();
    this.tell({ type: "subscribed" });
  }
  /** Lets the timer run that is set, and what follows from it. */
  async passes(): Promise<number> {
    const timer = this.timers.findLast((one) => !one.off) ?? assert.fail("no timer");
    timer.off = true;
    timer.run();
    await new Promise((resolve) => setImmediate(resolve));
    return timer.ms;
  }
}

test("waits grow, and end somewhere", () => {
  const waits = Array.from({ length: 40 }, (_, attempt) => backOff(attempt, 1));
  assert.ok(waits.every((wait, index) => index === 0 || wait >= (waits[index - 1] ?? 0)));
  assert.equal(waits.at(-1), 15_000);
  assert.ok(backOff(3, 0) < backOff(3, 1));
});

test("the first connection is no gap, and every later one is", async () => {
  const world = new World();
  world.live.start();
  world.opens();
  assert.equal(world.gaps, 0);
  world.socket.onclose?.();
  assert.equal(world.live.state, "waiting");
  await world.passes();
  world.opens();
  assert.equal(world.live.state, "open");
  assert.equal(world.gaps, 1);
});

test("as long as the server is away it is asked less and less often", async () => {
  const world = new World();
  world.live.start();
  world.opens();
  world.known = () => Promise.reject(new Error("away"));
  world.socket.onclose?.();
  const waits = [];
  for (let times = 0; times < 8; times += 1) waits.push(await world.passes());
  assert.deepEqual(waits, [...waits].sort((a, b) => a - b));
  world.known = () => Promise.resolve(true);
  await world.passes();
  world.opens();
  assert.equal(world.live.failures, 0);
});

test("a server that knows us no more is not asked again", async () => {
  const world = new World();
  world.live.start();
  world.opens();
  world.known = () => Promise.resolve(false);
  world.socket.onclose?.();
  await world.passes();
  assert.equal(world.signedOut, 1);
  assert.equal(world.live.state, "off");
});

test("a line on which nothing is heard is dead", async () => {
  const world = new World();
  world.live.start();
  world.opens();
  await world.passes();
  world.tell({ type: "pong" });
  await world.passes();
  assert.equal(world.live.state, "open");
  await world.passes();
  assert.equal(world.live.state, "waiting");
  assert.equal(world.sockets[0]?.closed, true);
});

test("a happening is told once, what was missed is said, and nonsense is passed over", () => {
  const world = new World();
  world.live.start();
  world.opens();
  for (const seq of [1, 2, 2, 3]) world.tell({ type: "happening", seq });
  world.tell({ type: "missed", count: 7 });
  world.socket.onmessage?.({ data: "{" });
  world.tell({ type: "something-new" });
  assert.deepEqual(world.heard, [1, 2, 3]);
  assert.equal(world.gaps, 1);
});
