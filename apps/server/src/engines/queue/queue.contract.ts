import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import type { OnTrouble, Queue } from "./queue.ts";

export interface QueueContractSubject {
  /** Opens a queue on a new connection. */
  open(options: { onTrouble: OnTrouble; lookAfterMs: number }): Promise<Queue>;
  /** Arguments for test/support/queue-consumer.ts to open one too. */
  childArguments: readonly string[];
  /** Drops wake-ups that were not consumed. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

const childScript = fileURLToPath(new URL("../../../test/support/queue-consumer.ts", import.meta.url));
const quiet = (): Promise<void> => sleep(150);

/** A worker that records its calls; `holding` calls last until released. */
function worker({ holding = false } = {}) {
  const holds: (() => void)[] = [];
  const seen = {
    calls: 0,
    running: 0,
    most: 0,
    holding,
    release() {
      seen.holding = false;
      for (const hold of holds.splice(0)) hold();
    },
    async onWake() {
      seen.calls++;
      seen.most = Math.max(seen.most, ++seen.running);
      if (seen.holding) await new Promise<void>((resolve) => holds.push(resolve));
      seen.running--;
    },
  };
  return seen;
}

export function queueContract(name: string, create: () => Promise<QueueContractSubject>): void {
  describe(`the queue contract: ${name}`, () => {
    let subject: QueueContractSubject;
    const opened: Queue[] = [];
    const troubles: string[] = [];
    // Periodic calls would hide missing wake-ups, so they are rare here.
    const open = async (lookAfterMs = 600_000): Promise<Queue> => {
      const queue = await subject.open({ onTrouble: (text) => troubles.push(text), lookAfterMs });
      opened.push(queue);
      return queue;
    };
    /** A consumer after its first call. */
    const consuming = async (queue: Queue, parallel: number, seen = worker()) => {
      const consumer = await queue.consume("predictions", { parallel }, seen.onWake);
      await waitFor("the first call", () => seen.calls >= 1);
      return { seen, consumer };
    };

    beforeAll(async () => {
      subject = await create();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queue) => queue.close()));
      await subject.empty();
      troubles.length = 0;
    });
    afterAll(() => subject.close());

    test("a consumer is called once at its start and then once for each wake-up, from any connection", async () => {
      const { seen } = await consuming(await open(), 4);
      await quiet();
      expect(seen.calls).toBe(1);
      const other = await open();
      for (const calls of [2, 3]) {
        expect(await other.wake("predictions")).toBe(true);
        await waitFor("the call", () => seen.calls === calls);
      }
      await quiet();
      expect(seen.calls).toBe(3);
      expect(troubles).toEqual([]);
    });

    test("topics are separate", async () => {
      const queue = await open();
      const { seen } = await consuming(queue, 1);
      const runs = worker();
      await queue.consume("runs", { parallel: 1 }, runs.onWake);
      await queue.wake("runs");
      await waitFor("the call", () => runs.calls === 2);
      await quiet();
      expect(seen.calls).toBe(1);
    });

    test("a consumer that starts after the wake-up is called too", async () => {
      const queue = await open();
      await queue.wake("predictions");
      await consuming(await open(), 1);
    });

    test("a wake-up during a call is followed by another call", async () => {
      const queue = await open();
      const { seen } = await consuming(queue, 1, worker({ holding: true }));
      for (let wakes = 0; wakes < 3; wakes++) expect(await queue.wake("predictions")).toBe(true);
      await quiet();
      expect(seen.calls).toBe(1);
      seen.release();
      await waitFor("the second call", () => seen.calls >= 2);
      expect(seen.most).toBe(1);
    });

    test("no work is left behind, whenever its wake-up arrives", async () => {
      const queue = await open();
      let lying = 0;
      const claim = async (): Promise<number> => {
        const claimed = lying;
        lying = 0;
        await sleep(Math.random() * 4); // Work that arrives now is not in this claim.
        return claimed;
      };
      const drain = async (): Promise<void> => {
        while ((await claim()) > 0);
      };
      await (await open()).consume("predictions", { parallel: 1 }, drain);
      for (let job = 0; job < 200; job++) {
        lying++;
        void queue.wake("predictions");
        await waitFor("the work to be claimed", () => lying === 0);
        await sleep(Math.random() * 4);
      }
    });

    test("calls run side by side up to the limit, over all consumers", async () => {
      const [producer, here, there] = await Promise.all([open(), open(), open()]);
      const { seen: first } = await consuming(here, 2);
      const { seen: second } = await consuming(there, 3);
      first.holding = second.holding = true;
      await producer.wake("predictions", 12);
      await waitFor("all hands to be full", () => first.running === 2 && second.running === 3);
      await quiet();
      expect([first.most, second.most]).toEqual([2, 3]);
      first.release();
      second.release();
      await waitFor("all to end", () => first.running + second.running === 0);
    });

    test("a flood of wake-ups is a few calls, and the last of it is not missed", async () => {
      const [producer, queue] = await Promise.all([open(), open()]);
      const { seen } = await consuming(queue, 2);
      let lastCallAt = 0;
      const consumer = await queue.consume("runs", { parallel: 2 }, async () => {
        lastCallAt = performance.now();
      });
      let lastWakeAt = 0;
      for (let round = 0; round < 20; round++) {
        lastWakeAt = performance.now();
        const woken = await Promise.all(Array.from({ length: 1000 }, () => producer.wake("runs")));
        expect(woken.every(Boolean)).toBe(true);
      }
      await waitFor("a call after the last wake-up", () => lastCallAt > lastWakeAt);
      await consumer.stop();
      await producer.wake("predictions", 1_000_000);
      await waitFor("calls", () => seen.calls > 2);
      await sleep(500);
      expect(seen.calls).toBeLessThan(25);
    });

    test("a consumer without wake-ups is called periodically", async () => {
      const { seen } = await consuming(await open(300), 2);
      const startedAt = performance.now();
      await waitFor("two more calls", () => seen.calls >= 3);
      expect(performance.now() - startedAt).toBeGreaterThan(500);
      seen.holding = true;
      await waitFor("both hands to be full", () => seen.running === 2);
      await sleep(700);
      expect(seen.most).toBe(2);
      seen.release();
    });

    test("a call that rejects is repeated after a pause", async () => {
      const queue = await open();
      let calls = 0;
      await queue.consume("predictions", { parallel: 2 }, async () => {
        if (++calls > 1 && calls < 4) throw new Error("the database is away");
      });
      await waitFor("the first call", () => calls === 1);
      const startedAt = performance.now();
      await queue.wake("predictions");
      await waitFor("the repetition that succeeds", () => calls === 4);
      expect(performance.now() - startedAt).toBeGreaterThan(1500);
      await quiet();
      expect(calls).toBe(4);
      expect(troubles).toHaveLength(1);
    });

    test("a full worker passes its wake-up on to an idle one", async () => {
      const [producer, here, there] = await Promise.all([open(), open(), open()]);
      const { seen: idle } = await consuming(here, 1);
      let fullCalls = 0;
      let full = true;
      await there.consume("predictions", { parallel: 1 }, async ({ passOn }) => {
        fullCalls++;
        if (full) passOn();
      });
      await waitFor("the first call", () => fullCalls === 1);
      for (let wakes = 1; wakes <= 8; wakes++) {
        await producer.wake("predictions");
        await waitFor("the idle one to be called", () => idle.calls === 1 + wakes);
      }
      await here.close();
      await producer.wake("predictions");
      await sleep(1000);
      expect(fullCalls).toBeLessThan(300); // Alone and full: called now and then, not thousands of times.
      full = false;
      const before = fullCalls;
      await producer.wake("predictions");
      await waitFor("the call", () => fullCalls > before);
    });

    test("stop finishes running calls, starts none and leaves waiting work to others", async () => {
      const [producer, here, there] = await Promise.all([open(), open(), open()]);
      const { seen: stopping, consumer } = await consuming(here, 1, worker({ holding: true }));
      await producer.wake("predictions"); // Waits: the only slot is taken.
      await quiet();
      let stopped = false;
      const stop = consumer.stop().then(() => {
        stopped = true;
      });
      const { seen: staying } = await consuming(there, 1);
      await producer.wake("predictions");
      await waitFor("the others to be called", () => staying.calls >= 2);
      expect(stopped).toBe(false);
      stopping.release();
      await stop;
      const calls = staying.calls;
      await producer.wake("predictions");
      await waitFor("the others to be called again", () => staying.calls > calls);
      expect(stopping.calls).toBe(1);
    });

    test("a failing worker is stopped without waiting for its pause", async () => {
      const queue = await open();
      const times: number[] = [];
      for (let round = 0; round < 5; round++) {
        let calls = 0;
        const consumer = await queue.consume("predictions", { parallel: 1 }, async () => {
          calls++;
          throw new Error("always fails");
        });
        await waitFor("the first call", () => calls === 1);
        const startedAt = performance.now();
        await consumer.stop();
        times.push(performance.now() - startedAt);
      }
      // Waiting for the pause would add a second to each.
      expect(Math.min(...times)).toBeLessThan(500);
    });

    test("close does not wait for calls; later wake-ups resolve with false", async () => {
      const [producer, queue] = await Promise.all([open(), open()]);
      const { seen } = await consuming(queue, 2, worker({ holding: true }));
      expect(await queue.ready()).toBe(true);
      await queue.close();
      await queue.close();
      await producer.wake("predictions");
      await quiet();
      expect(seen.calls).toBe(1);
      seen.release();
      expect(await queue.ready()).toBe(false);
      expect(await queue.wake("predictions")).toBe(false);
      await expect(queue.consume("predictions", { parallel: 1 }, async () => undefined)).rejects.toThrow("closed");
    });

    test("after kill -9 of a worker, another is woken", async () => {
      const [producer, queue] = await Promise.all([open(), open()]);
      const { seen } = await consuming(queue, 1);
      const child = spawn(process.execPath, [childScript, ...subject.childArguments], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        const said: string[] = [];
        createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
        await waitFor("the child to consume", () => said.includes("waiting"));
        let wakes = 0;
        while (!said.includes("woken")) {
          if (++wakes > 20) throw new Error("the child was never woken");
          expect(await producer.wake("predictions")).toBe(true);
          await quiet();
        }
        child.kill("SIGKILL");
        await once(child, "exit");
        await waitFor("a call here for every wake-up", () => seen.calls === 1 + wakes);
      } finally {
        child.kill("SIGKILL");
      }
    });
  });
}
