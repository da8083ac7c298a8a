import { describe, expect, test } from "vitest";
import type { Step } from "../run.ts";
import { nextCall, type RunState } from "./next-call.rules.ts";

const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
const schema = { type: "object", required: ["answer"] };
const called = [{ id: "call_1", name: "look", arguments: {} }];

const step = (kind: Step["kind"], toolCalls: Step["message"]["toolCalls"] = []): Step => ({
  n: 1,
  kind,
  message: { text: "text", toolCalls },
  prompt: null,
});

function next({
  instructions = {},
  output_schema = null,
  ...more
}: Partial<RunState> & Partial<RunState["snapshot"]> = {}) {
  const text = more.last?.message.text ?? "";
  return nextCall({ snapshot: { instructions, output_schema }, tools: [], last: undefined, text, faults: [], ...more });
}

describe("the first call", () => {
  test("uses the tools and adds no prompt", () => {
    expect(next({ tools })).toEqual({ kind: "work", chat: { tools } });
    expect(next()).toEqual({ kind: "work", chat: {} });
  });

  test("asks for a plan if there is an instruction, without tool calls", () => {
    const instructions = { planning: "Think first." };
    const plan = next({ tools, instructions, output_schema: schema });
    expect(plan).toEqual({
      kind: "plan",
      prompt: expect.stringMatching(/^Think first\./),
      chat: { tools, toolChoice: "none" },
    });
    expect(next({ instructions }).chat).toEqual({});
  });

  test("formats the answer at once without tools", () => {
    expect(next({ output_schema: schema })).toEqual({ kind: "format", chat: { responseSchema: schema } });
    // With tools the format comes last, because an enforced schema prevents tool calls.
    expect(next({ tools, output_schema: schema })).toEqual({ kind: "work", chat: { tools } });
  });
});

describe("the call after", () => {
  test("the plan starts the work", () => {
    const last = step("plan");
    const instructions = { planning: "Think first." };
    expect(next({ last, tools, instructions })).toEqual({ kind: "work", prompt: "Now carry it out.", chat: { tools } });
    expect(next({ last, instructions, output_schema: schema })).toEqual({
      kind: "format",
      prompt: "Now carry it out.",
      chat: { responseSchema: schema },
    });
  });

  test("tool results continues the work", () => {
    const last = step("work", called);
    for (const output_schema of [null, schema]) {
      const instructions = { planning: "Think first.", formatting: "Shout." };
      expect(next({ last, tools, instructions, output_schema })).toEqual({ kind: "work", chat: { tools } });
    }
  });

  test("the work formats the answer, without tool calls", () => {
    const last = step("work");
    const { kind, prompt, chat } = next({
      last,
      tools,
      instructions: { formatting: "Shout." },
      output_schema: schema,
    });
    expect({ kind, chat }).toEqual({
      kind: "format",
      chat: { tools, toolChoice: "none", responseSchema: schema },
    });
    expect(prompt).toContain("Shout.");
    expect(prompt).toContain("schema");
    expect(next({ last, instructions: { formatting: "Shout." } }).prompt).not.toContain("schema");
  });

  test("an invalid answer lists its issues", () => {
    const faults = [{ path: ["answer"], message: "must be a number" }];
    const { kind, prompt, chat } = next({ last: step("format"), tools, output_schema: schema, faults });
    expect({ kind, chat }).toEqual({ kind: "format", chat: { tools, toolChoice: "none", responseSchema: schema } });
    expect(prompt).toContain("- answer: must be a number");
  });
});

describe("the call after text that was cut off", () => {
  const cut = (kind: Step["kind"], text = "It ends in the mid"): Step => ({
    ...step(kind),
    message: { text, toolCalls: [], cutAtTokens: 4096 },
  });
  const atLimit = "cut off at the limit of 4096 tokens";

  test("continues it, with tools only in the work", () => {
    const work = next({ last: cut("work"), tools, instructions: { formatting: "Shout." } });
    expect(work).toEqual({ kind: "work", prompt: expect.stringContaining(atLimit), chat: { tools } });
    expect(work.prompt).toContain("It ends in the mid");
    expect(next({ last: cut("work") }).chat).toEqual({});
    const form = next({ last: cut("format"), tools, instructions: { formatting: "Shout." } });
    expect(form).toMatchObject({ kind: "format", chat: { tools, toolChoice: "none" } });
    expect(form.prompt).toContain("It ends in the mid");
  });

  test("quotes only the end, without half a character", () => {
    const { prompt = "" } = next({ last: cut("work", `${"a".repeat(500)}😀${"b".repeat(79)}`) });
    expect(prompt).not.toContain("a".repeat(100));
    expect(prompt.isWellFormed()).toBe(true);
    expect(prompt).toMatch(/\nb{79}$/);
  });

  test("asks for less reasoning without text", () => {
    expect(next({ last: cut("work", " ") }).prompt).toMatch(/^Your message was cut off .* Think less/);
  });

  test("continues earlier text if the last part was only reasoning", () => {
    const { prompt } = next({ last: cut("work", ""), text: "It began so", tools });
    expect(prompt).toMatch(/Continue exactly where it stopped.*It began so$/s);
  });

  test("continues the work without text", () => {
    const call = next({ last: cut("work", ""), tools, output_schema: schema });
    expect(call).toEqual({ kind: "work", prompt: expect.stringContaining(atLimit), chat: { tools } });
  });

  test("asks again with a schema and names the limit", () => {
    const faults = [{ path: [], message: "must be JSON" }];
    const again = next({ last: cut("format"), tools, output_schema: schema, faults });
    expect(again).toMatchObject({ kind: "format", chat: { toolChoice: "none", responseSchema: schema } });
    expect(again.prompt).toContain(atLimit);
    expect(again.prompt).not.toContain("must be JSON");
    const form = next({ last: cut("work"), tools, output_schema: schema });
    expect(form).toMatchObject({ kind: "format", chat: { responseSchema: schema } });
    expect(form.prompt).toContain(atLimit);
  });

  test("carries out an incomplete plan", () => {
    expect(next({ last: cut("plan"), tools, instructions: { planning: "Plan." } })).toEqual({
      kind: "work",
      prompt: expect.stringContaining(atLimit),
      chat: { tools },
    });
  });
});
