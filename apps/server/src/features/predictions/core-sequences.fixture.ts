import type { CoreEngine } from "./core-engine.fixture.ts";
import { type KeyLimits, noLimits } from "./core-keys.fixture.ts";
import { CoreModel } from "./core-model.fixture.ts";
import type { Answer, Arrival, End, Operation, Route, State, Verdict, World } from "./core-world.fixture.ts";

/** Small and narrow, so that every limit is reached often. */
export const world: World = {
  plans: {
    wide: { perMinute: null, parallel: null },
    narrow: { perMinute: 6, parallel: 2 },
    slow: { perMinute: 3, parallel: null },
    single: { perMinute: null, parallel: 1 },
  },
  users: {
    ann: { plan: "wide", balance: 3_000 },
    bob: { plan: "narrow", balance: 2_000 },
    cat: { plan: "single", balance: 1_000 },
  },
  keys: {
    ann1: { user: "ann", parent: null, limits: noLimits },
    ann2: { user: "ann", parent: null, limits: { ...noLimits, month: 500 } },
    bob1: { user: "bob", parent: null, limits: noLimits },
    bob2: { user: "bob", parent: null, limits: { ...noLimits, month: 300, day: 150 } },
    bob3: { user: "bob", parent: null, limits: { month: null, day: 400, minute: 120 } },
    bob4: { user: "bob", parent: "bob3", limits: noLimits },
    bob5: { user: "bob", parent: "bob3", limits: { month: 200, day: null, minute: 100 } },
    cat1: { user: "cat", parent: null, limits: { ...noLimits, minute: 80 } },
  },
  models: { alpha: { capacity: 2 }, beta: { capacity: 4 }, gamma: { capacity: 1 } },
  runs: {
    run1: { user: "ann", key: "ann2", price: 200, parent: null },
    run2: { user: "ann", key: "ann2", price: 0, parent: "run1" },
    run3: { user: "bob", key: "bob1", price: 100, parent: null },
    run5: { user: "bob", key: "bob5", price: 40, parent: null },
    run4: { user: "cat", key: "cat1", price: 0, parent: null },
  },
};

const nodes = ["node1", "node2"] as const;

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Lively {
  live: ReadonlyMap<string, { id: string; route: Route; holder: string | null; started: boolean }>;
}

/** Chooses the next operation with a look at the model, so that most ends concern live predictions. */
export class Generator {
  readonly #random: () => number;
  readonly #prefix: string;
  #predictions = 0;

  constructor(seed: number, prefix = "p") {
    this.#random = randomOf(seed);
    this.#prefix = prefix;
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #one<T>(items: readonly T[]): T {
    const item = items[this.#below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }

  #is(chance: number): boolean {
    return this.#random() < chance;
  }

  #weighted<T>(choices: readonly (readonly [weight: number, of: T])[]): T {
    let left = this.#random() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, of] of choices) {
      left -= weight;
      if (left < 0) return of;
    }
    return this.#one(choices)[1];
  }

  /** Adds runs and their next calls to `calls`. */
  #arrival(calls: string[]): Arrival {
    const key = this.#one(Object.keys(world.keys));
    const route = this.#weighted<Route>([
      [3, "sync"],
      [2, "stream"],
      [4, "async"],
      [3, "agent"],
    ]);
    const sponsored = route === "agent" && this.#is(0.25);
    const owner = world.keys[key]?.user ?? "";
    const ofOwner = Object.keys(world.runs).filter((run) => world.runs[run]?.key === key);
    const run = route === "agent" && ofOwner.length > 0 && this.#is(0.6) ? this.#one(ofOwner) : null;
    const id = `${this.#prefix}${++this.#predictions}`;
    if (run !== null) calls.push(run, id);
    return {
      ...{ id, user: sponsored ? this.#one(Object.keys(world.users)) : owner, key, route, sponsored, run },
      model: this.#one(Object.keys(world.models)),
      highPriority: this.#is(0.15),
      reservation: this.#one([0, 0, 10, 40, 100, 250, 1_200]),
      tokens: this.#one([0, 0, 5, 20, 60, 110]),
      mustBeCovered: route === "agent" && this.#is(0.3),
      webhook: route === "async" && this.#is(0.2),
      here: route === "async" && this.#is(0.3),
    };
  }

  #ends(model: Lively, most: number): End[] {
    const live = [...model.live.values()];
    const ends = Array.from({ length: this.#below(most + 1) }, (): End => {
      // Mostly running predictions.
      const running = live.filter(({ started }) => started);
      const among = this.#is(0.8) && running.length > 0 ? running : live;
      const id =
        among.length > 0 && this.#is(0.95)
          ? this.#one(among).id
          : `${this.#prefix}${1 + this.#below(this.#predictions + 1)}`;
      const status = this.#one([200, 200, 200, 499, 502]);
      return {
        id,
        stale: this.#is(0.06),
        status,
        tokens: this.#one([0, 3, 20, 70]),
        price: status === 502 ? 0 : this.#one([0, 5, 30, 100, 2_000]),
      };
    });
    return ends;
  }

  #limits(): KeyLimits {
    const money = [null, 100, 400, 1_500];
    return { month: this.#one(money), day: this.#one(money), minute: this.#one([null, 30, 90, 300]) };
  }

  next(model: Lively): Operation[] {
    const node = this.#one(nodes);
    const kind = this.#weighted<Operation["kind"] | "crash">([
      [40, "write"],
      [8, "settle"],
      [5, "look"],
      [10, "claim"],
      [4, "release"],
      [8, "start calls"],
      [4, "grant free slots"],
      [3, "capacity"],
      [0.3, "retire"],
      [3, "plan"],
      [2, "revoke"],
      [2, "limit"],
      [4, "credit"],
      [2, "fold"],
      [1, "run"],
      [1, "day"],
      [1, "month"],
      [5, "pass"],
      [1, "crash"],
    ]);
    const calls: string[] = [];
    switch (kind) {
      case "write": {
        const arrivals = Array.from({ length: this.#below(this.#is(0.7) ? 3 : 9) }, () => this.#arrival(calls));
        const ends = this.#ends(model, this.#is(0.7) ? 2 : 8);
        const write: Operation = { kind, node, ends, arrivals, slots: this.#is(0.3) ? 1 + this.#below(4) : 0 };
        const before: Operation[] = [];
        for (let n = 0; n < calls.length; n += 2)
          before.push({
            kind: "run",
            run: calls[n] ?? "",
            holder: this.#is(0.9) ? node : "node3",
            call: calls[n + 1] ?? "",
          });
        return [...before, write];
      }
      case "settle":
        return [{ kind, ends: this.#ends(model, 4) }];
      case "look":
        return [{ kind, node, arrival: { ...this.#arrival(calls), run: null }, counts: this.#is(0.5) }];
      case "claim":
        return [{ kind, node, slots: 1 + this.#below(5) }];
      case "release": {
        const jobs = [...model.live.values()].filter(({ route }) => route === "async" || this.#is(0.1));
        return [
          {
            kind,
            ids: jobs.filter(() => this.#is(0.4)).map(({ id }) => ({ id, stale: this.#is(0.1) })),
            died: this.#is(0.5),
          },
        ];
      }
      // The sweep: jobs are released, predictions with a client or a run end.
      case "crash": {
        const held = [...model.live.values()].filter(({ holder }) => holder === node);
        const others = held.filter(({ route }) => route !== "async");
        return [
          {
            kind: "release",
            ids: held.filter(({ route }) => route === "async").map(({ id }) => ({ id, stale: false })),
            died: true,
          },
          { kind: "settle", ends: others.map(({ id }) => ({ id, stale: false, status: 499, price: 0, tokens: 0 })) },
        ];
      }
      case "start calls":
        return [{ kind, node }];
      case "grant free slots":
        return [{ kind }];
      case "capacity":
        return [
          {
            kind,
            model: this.#one(Object.keys(world.models)),
            capacity: this.#one([0, 1, 1, 2, 2, 4, 4, 7]),
          },
        ];
      case "retire":
        return [{ kind, model: "gamma" }];
      case "plan":
        return [{ kind, user: this.#one(Object.keys(world.users)), plan: this.#one(Object.keys(world.plans)) }];
      case "revoke":
        return [{ kind, key: this.#one(Object.keys(world.keys)), revoked: this.#is(0.3) }];
      case "limit":
        return [{ kind, key: this.#one(Object.keys(world.keys)), limits: this.#limits() }];
      case "credit":
        return [
          { kind, user: this.#one(Object.keys(world.users)), amount: this.#one([2_000, 500, 300, -400, -1_000]) },
        ];
      case "fold":
        return [{ kind, user: this.#one(Object.keys(world.users)) }];
      case "run": {
        const run = this.#one(Object.keys(world.runs));
        return [{ kind, run, holder: this.#one(nodes), call: `${this.#prefix}${this.#predictions + 1}` }];
      }
      case "day":
      case "month":
        return [{ kind }];
      case "pass":
        // Far below a minute in total, so that the duration of the test does not matter.
        return [{ kind, ms: 25_000 }];
    }
  }
}

/** The answer has real times, the model virtual ones. */
const toleranceMs = 9_000;

const sorted = ({ ids, granted }: Answer): Answer => ({
  ...(ids && { ids: ids.toSorted() }),
  ...(granted && { granted: granted.toSorted() }),
});

function near(answer: Answer, expected: Answer): Answer {
  return {
    ...answer,
    ...sorted(answer),
    wake: expected.wake === undefined ? undefined : answer.wake,
    ...(answer.decisions && {
      decisions: answer.decisions.map((one, n) => {
        const other = expected.decisions?.[n];
        const same = (mine: number, its: number | undefined) =>
          its !== undefined && mine <= its && mine > its - toleranceMs ? its : mine;
        return {
          ...one,
          rate: one.rate && { ...one.rate, resetMs: same(one.rate.resetMs, other?.rate?.resetMs) },
          retryAfterMs: one.retryAfterMs === null ? null : same(one.retryAfterMs, other?.retryAfterMs ?? undefined),
        };
      }),
    }),
  };
}

function differences(engine: unknown, model: unknown, path = ""): string[] {
  if (!isObject(engine) || !isObject(model))
    return Object.is(engine, model)
      ? []
      : [`${path}: engine ${JSON.stringify(engine)}, model ${JSON.stringify(model)}`];
  const keys = new Set([...Object.keys(engine), ...Object.keys(model)]);
  return [...keys].flatMap((key) => differences(engine[key], model[key], path === "" ? key : `${path}.${key}`));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Runs one sequence on the engine and the model. */
export class Trial {
  readonly #engine: CoreEngine;
  readonly model = new CoreModel(world);
  readonly verdicts = new Set<Verdict>();
  #seen: State | undefined;

  constructor(engine: CoreEngine) {
    this.#engine = engine;
  }

  /** Differences between engine and model; empty if they agree. */
  async step(operation: Operation): Promise<string> {
    if (!this.#seen) {
      await this.#engine.start(world);
      this.#seen = await this.#engine.look();
    }
    const before = this.#seen.live;
    try {
      const answer = await this.#engine.apply(operation, (id) => this.model.claimOf(id));
      const state = await this.#engine.look();
      this.#seen = state;
      const started = Object.keys(state.live).filter((id) => state.live[id]?.started && !before[id]?.started);
      const expected = this.model.apply(operation, new Set(started));
      for (const { verdict } of answer.decisions ?? []) this.verdicts.add(verdict);
      const ours = { ...near(answer, expected), ...state };
      return differences(ours, { ...expected, ...sorted(expected), ...this.model.state() }).join("\n");
    } catch (error) {
      return String(error);
    }
  }
}

/** Removes operations, and items of them, while the engine still differs. */
export async function shorten(
  engine: CoreEngine,
  operations: readonly Operation[],
): Promise<{ operations: readonly Operation[]; difference: string }> {
  let best: { operations: readonly Operation[]; difference: string } = { operations, difference: "not seen again" };
  async function attempt(some: readonly Operation[]): Promise<void> {
    const trial = new Trial(engine);
    for (const [at, operation] of some.entries()) {
      const difference = await trial.step(operation);
      if (difference === "") continue;
      best = { operations: some.slice(0, at + 1), difference };
      return;
    }
  }
  await attempt(operations);
  for (let size = Math.ceil(best.operations.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let from = best.operations.length - size; from >= 0; from -= size)
      if (from < best.operations.length) await attempt(best.operations.toSpliced(from, size));
  for (let at = best.operations.length - 1; at >= 0; at--)
    for (const part of ["ends", "arrivals", "ids"] as const)
      for (let n = 8; n >= 0; n--) {
        const operation = best.operations[at] as Partial<Record<typeof part, unknown[]>> | undefined;
        const items = operation?.[part];
        if (items && n < items.length)
          await attempt(best.operations.with(at, { ...operation, [part]: items.toSpliced(n, 1) } as Operation));
      }
  return best;
}

export const textOf = (operations: readonly Operation[]) =>
  operations.map((operation) => JSON.stringify(operation)).join("\n");
