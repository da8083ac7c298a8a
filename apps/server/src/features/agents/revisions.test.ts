import type { AgentSnapshot, AgentTool, ListChange, ValueChange } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { bindingId } from "./binding.rules.ts";
import { diffSnapshots } from "./revisions.ts";

const base: AgentSnapshot = {
  name: "One",
  goal: "g",
  tools: [],
  model: "gantry/text",
  input_schema: { type: "object" },
  output_schema: null,
  instructions: {},
  drives: [],
  mcp_servers: [],
  pricing: { per_run: 0 },
  context_compression: true,
};

describe("a difference", () => {
  test.each([
    [{ tools: ["a", "b"] }, { tools: ["b", "a"] }, {}],
    [{ tools: ["a"] }, { tools: [{ type: "tool", id: "a" }] }, {}],
    [
      { tools: ["a"] },
      { tools: [{ type: "tool", id: "a", confirm: "always" }] },
      { tools: { added: [], removed: [], changed: ["a"] } },
    ],
    [
      { tools: ["a"] },
      { tools: [{ type: "agent", agent_id: "x" }] },
      { tools: { added: ["agent:x"], removed: ["a"] } },
    ],
    [{ drives: ["d1"] }, { drives: ["d2"] }, { drives: { added: ["d2"], removed: ["d1"] } }],
    [
      { drives: ["d1", "d2", "d3"] },
      { drives: ["d2", "d1", "d3"] },
      { drives: { added: [], removed: [], changed: ["d2", "d1"] } },
    ],
    [{ drives: ["d1", "d2"] }, { drives: ["d0", "d2"] }, { drives: { added: ["d0"], removed: ["d1"] } }],
    [{ mcp_servers: [{ id: "m" }, { id: "n" }] }, { mcp_servers: [{ id: "n" }, { id: "m" }] }, {}],
    [
      { mcp_servers: [{ id: "m" }] },
      { mcp_servers: [{ id: "m", tools: ["t"] }] },
      { mcp_servers: { added: [], removed: [], changed: ["m"] } },
    ],
    [{ output_schema: null }, { output_schema: {} }, { output_schema: { old: null, new: {} } }],
    [
      { instructions: { planning: "a", formatting: "b" } },
      { instructions: { planning: "a" } },
      { instructions: { old: { planning: "a", formatting: "b" }, new: { planning: "a" } } },
    ],
    [{ input_schema: { a: 1, b: 2 } }, { input_schema: { b: 2, a: 1 } }, {}],
    [{ context_compression: true }, { context_compression: false }, { context_compression: { old: true, new: false } }],
  ] as [Partial<AgentSnapshot>, Partial<AgentSnapshot>, object][])("%j to %j", (before, after, expected) => {
    expect(diffSnapshots({ ...base, ...before }, { ...base, ...after })).toEqual(expected);
  });

  test("without an earlier revision, all fields", () => {
    expect(diffSnapshots(undefined, { ...base, tools: ["a"] })).toEqual({
      name: { old: null, new: "One" },
      goal: { old: null, new: "g" },
      tools: { added: ["a"], removed: [] },
      model: { old: null, new: "gantry/text" },
      input_schema: { old: null, new: { type: "object" } },
      instructions: { old: null, new: {} },
      pricing: { old: null, new: { per_run: 0 } },
      context_compression: { old: null, new: true },
    });
  });
});

describe("for any two snapshots", () => {
  const pairs = Array.from({ length: 500 }, (_, n) => {
    const random = randomOf(n + 1);
    const before = snapshot(random);
    return { before, after: random(3) === 0 ? { ...before, ...some(snapshot(random), random) } : snapshot(random) };
  });

  test("a snapshot does not differ from itself", () => {
    for (const { before } of pairs) expect(diffSnapshots(before, structuredClone(before))).toEqual({});
  });

  test("the reverse difference is the inverse", () => {
    for (const { before, after } of pairs) {
      const there = diffSnapshots(before, after);
      const back = diffSnapshots(after, before);
      expect(Object.keys(back).sort()).toEqual(Object.keys(there).sort());
      for (const [field, change] of Object.entries(there)) {
        const other = back[field] as ListChange & ValueChange;
        if ("old" in change) expect(other).toEqual({ old: change.new, new: change.old });
        else {
          const { added, removed, changed } = change as ListChange;
          expect([other.added, other.removed]).toEqual([removed, added]);
          expect([...(other.changed ?? [])].sort()).toEqual([...(changed ?? [])].sort());
        }
      }
    }
  });

  test("old snapshot and difference give the new snapshot", () => {
    for (const { before, after } of pairs) {
      const changes = diffSnapshots(before, after);
      for (const field of Object.keys(base) as (keyof AgentSnapshot)[]) {
        const change = changes[field];
        const idsOf = (from: AgentSnapshot): string[] | undefined => {
          if (field === "tools") return from.tools.map(bindingId);
          if (field === "drives") return from.drives;
          return field === "mcp_servers" ? from.mcp_servers.map(({ id }) => id) : undefined;
        };
        const old = idsOf(before);
        if (old === undefined) {
          expect(change && "new" in change ? change.new : before[field]).toEqual(after[field]);
          continue;
        }
        const { added, removed } = (change ?? { added: [], removed: [] }) as ListChange;
        const made = [...old.filter((id) => !removed.includes(id)), ...added];
        expect(made.sort()).toEqual(idsOf(after)?.sort());
        expect(added.filter((id) => old.includes(id))).toEqual([]);
        expect(removed.filter((id) => !old.includes(id))).toEqual([]);
      }
    }
  });
});

type Random = (below: number) => number;

function randomOf(seed: number): Random {
  let state = seed * 7919;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

function some<T extends object>(of: T, random: Random): Partial<T> {
  return Object.fromEntries(Object.entries(of).filter(() => random(2) === 0)) as Partial<T>;
}

function snapshot(random: Random): AgentSnapshot {
  const few = <T>(values: readonly T[]): T[] => values.filter(() => random(2) === 0);
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  const tools = few<() => AgentTool>([
    () => pick<AgentTool>(["a", { type: "tool", id: "a" }, { type: "tool", id: "a", confirm: "always" }]),
    () => pick<AgentTool>(["b", { type: "tool", id: "b", arguments: { x: random(2) } }]),
    () => ({ type: "agent", agent_id: "x", ...(random(2) === 0 && { name: "n" }) }),
    () => ({ type: "agent", agent_id: "a" }),
  ]);
  return {
    name: pick(["One", "Two"]),
    goal: pick(["g", "h"]),
    tools: tools.map((make) => make()),
    model: pick(["gantry/text", "gantry/rules"]),
    input_schema: pick<Record<string, unknown>>([{}, { type: "object" }, { properties: { a: {} } }]),
    output_schema: pick<Record<string, unknown> | null>([null, {}, { type: "object" }]),
    instructions: few(["planning", "formatting"]).reduce(
      (all, key) => Object.assign(all, { [key]: pick(["x", "y"]) }),
      {},
    ),
    drives: few(["d1", "d2", "d3"]),
    mcp_servers: few(["m1", "m2"]).map((id) => (random(2) === 0 ? { id } : { id, tools: few(["t", "u"]) })),
    pricing: { per_run: random(3) },
    context_compression: random(2) === 0,
  };
}
