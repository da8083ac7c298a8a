import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { CoreEngine } from "./core-engine.fixture.ts";
import { Generator, shorten, Trial, textOf, world } from "./core-sequences.fixture.ts";
import type { Operation } from "./core-world.fixture.ts";

/** Multiplies the number of random sequences. Seeds continue after those of a normal run. */
const effort = Number(process.env.GANTRY_CORE_EFFORT ?? 1);

let own: Awaited<ReturnType<typeof testDatabase>>;
let engine: CoreEngine;

beforeAll(async () => {
  own = await testDatabase();
  engine = new CoreEngine(own.database);
});

afterAll(() => own.drop());

test("the database behaves like the model, one operation at a time", {
  timeout: 120_000 * effort,
}, async () => {
  const verdicts = new Set<string>();
  for (let seed = 1; seed <= 40 * effort; seed++) {
    const generator = new Generator(seed);
    const trial = new Trial(engine);
    const done: Operation[] = [];
    while (done.length < 60) {
      for (const operation of generator.next(trial.model)) {
        done.push(operation);
        const difference = await trial.step(operation);
        if (!difference) continue;
        const short = await shorten(engine, done);
        expect.fail(`seed ${seed}\n${textOf(short.operations)}\n${short.difference}`);
      }
    }
    for (const verdict of trial.verdicts) verdicts.add(verdict);
  }
  // Otherwise the sequences do not cover these cases.
  expect([...verdicts].toSorted()).toEqual([
    "key_gone",
    "model_inactive",
    "model_retired",
    "no_funds",
    "rate_limit",
    "run",
    "run_lost",
    "token_limit",
    "too_many_parallel",
    "too_many_tokens",
    "wait",
  ]);
});

describe("concurrent operations", () => {
  /** Operations that lower limits below current use, or change counters. */
  const left = new Set<Operation["kind"]>(["capacity", "retire", "plan", "revoke", "limit", "day", "month", "pass"]);

  /** Refusals for lack of funds would leave little to do. */
  const users = Object.entries(world.users).map(([id, user]) => [id, { ...user, balance: 1_000_000 }]);
  const rich = { ...world, users: Object.fromEntries(users) };

  async function liveNow() {
    const { live } = await engine.look();
    return new Map(Object.entries(live).map(([id, one]) => [id, { id, ...one }]));
  }

  async function work(seed: number, n: number): Promise<void> {
    const generator = new Generator(seed * 100 + n, `n${n}p`);
    for (let done = 0; done < 30; done++) {
      const live = await liveNow();
      for (const operation of generator.next({ live }).filter(({ kind }) => !left.has(kind)))
        await engine.apply(operation, (id) => live.get(id)?.claim ?? 1);
    }
  }

  /** Ends everything, after raising all limits. */
  async function drain(): Promise<void> {
    for (let round = 0; ; round++) {
      const live = await liveNow();
      if (live.size === 0) return;
      expect(round, JSON.stringify([...live.values()])).toBeLessThan(live.size + 100);
      const ends = [...live.values()].filter(({ started }) => started);
      const operations: Operation[] = [
        { kind: "settle", ends: ends.map(({ id }) => ({ id, stale: false, status: 200, price: 7, tokens: 3 })) },
        { kind: "start calls", node: "node1" },
        { kind: "start calls", node: "node2" },
        { kind: "claim", node: "node1", slots: 3 },
        { kind: "grant free slots" },
      ];
      for (const operation of operations) await engine.apply(operation, (id) => live.get(id)?.claim ?? 1);
    }
  }

  test("do not block each other, keep counters and limits, and leave nothing waiting", {
    timeout: 120_000 * effort,
  }, async () => {
    for (let seed = 1; seed <= 4 * effort; seed++) {
      await engine.start(rich);
      await Promise.all(Array.from({ length: 6 }, (_, n) => work(seed, n)));
      expect(await engine.faults(), `seed ${seed}`).toEqual([]);
      await drain();
      expect(Object.keys((await engine.look()).ended).length).toBeGreaterThan(20);
      expect(await engine.faults(), `seed ${seed}`).toEqual([]);
    }
  });

  test("sponsored calls and calls of the key's owner take locks in the same order", async () => {
    await engine.start({ ...world, models: { alpha: { capacity: 100 } } });
    const call = { key: "ann2", model: "alpha", route: "agent", reservation: 1, tokens: 1, run: null } as const;
    const plain = { highPriority: false, mustBeCovered: false, webhook: false, here: false };
    const calls = async (n: number, who: { user: string; sponsored: boolean }[]) => {
      for (let round = 0; round < 40; round++) {
        const arrivals = who.map((one, at) => ({ ...call, ...plain, ...one, id: `n${n}p${round}-${at}` }));
        const ends = arrivals.map(({ id }) => ({ id, stale: false, status: 200, price: 0, tokens: 0 }));
        await engine.apply({ kind: "write", node: "node1", ends: [], arrivals, slots: 0 }, () => 1);
        await engine.apply({ kind: "write", node: "node1", ends, arrivals: [], slots: 0 }, () => 1);
      }
    };
    const sponsored = { user: "bob", sponsored: true };
    const own = { user: "ann", sponsored: false };
    await Promise.all([0, 1, 2, 3, 4, 5].map((n) => calls(n, n % 2 === 0 ? [sponsored, sponsored] : [own])));
    expect(await engine.faults()).toEqual([]);
    expect(Object.keys((await engine.look()).ended)).toHaveLength(3 * 40 * 3);
  });
});
