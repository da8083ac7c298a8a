import { type AgentSnapshot, newId } from "@gantry/wire";
import type { Caller } from "../../accounts/index.ts";
import { toolTable } from "../../agents/tools.ts";
import type { RunScope, RunTool, ToolCallRequest } from "./run-tool.ts";

const table = toolTable([]);

export function builtinTool(id: string) {
  const info = table.get(id);
  if (!info) throw new Error(`no tool ${id}`);
  return info;
}

export function callerNamed(userId: string, more: Partial<Caller> = {}): Caller {
  return {
    userId,
    username: userId.slice(4),
    role: "user",
    plan: "unlimited",
    keyId: "key_1",
    keyPublic: "key",
    keyName: "key",
    graceEndsAt: null,
    team: null,
    models: null,
    expiresAt: null,
    monthlyLimitMicros: null,
    keepsInputs: true,
    sessionEndsAt: null,
    ...more,
  };
}

/** By default a run of the caller's own agent. */
export function scopeOf(
  owner: string | Caller,
  { snapshot, ...more }: Partial<Omit<RunScope, "snapshot">> & { snapshot?: Partial<AgentSnapshot> } = {},
): RunScope {
  const caller = typeof owner === "string" ? callerNamed(owner) : owner;
  return {
    runId: newId("run"),
    userId: caller.userId,
    caller,
    isListed: false,
    ownerId: caller.userId,
    connectors: [],
    baseUrl: "http://gantry.example",
    ...more,
    snapshot: {
      name: "Agent",
      goal: "Do it.",
      tools: [],
      model: "gantry/rules",
      input_schema: { type: "object" },
      output_schema: null,
      instructions: {},
      drives: [],
      mcp_servers: [],
      pricing: { per_run: 0 },
      context_compression: true,
      ...snapshot,
    },
  };
}

let calls = 0;

/** Each call has its own id. */
export const calling = (given: Record<string, unknown>, signal = new AbortController().signal): ToolCallRequest => ({
  callId: `call_${++calls}`,
  arguments: given,
  signal,
});

export const execute = (tool: RunTool, given: Record<string, unknown>, signal?: AbortSignal) =>
  tool.execute(calling(given, signal));
