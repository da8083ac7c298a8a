import type { AgentSnapshot, RunLeave } from "@gantry/wire";
import { type Caller, isConfined } from "../../accounts/index.ts";
import type { CallUsage } from "../call-usage.ts";

/** In the connectors of a run: another user's agent started it. Then the caller's own agent needs permission too. */
export const calledByOthersAgent = "under-others";

export interface RunScope {
  runId: string;
  /** The caller, who pays for the run. */
  userId: string;
  /** The caller with the rights of its key; undefined if the key was revoked. Then no tool is called. */
  caller: Caller | undefined;
  /** The key lists the agent, so it may also call what the agent is built from. */
  isListed: boolean;
  /** The agent's creator, who owns its drives and tool servers. */
  ownerId: string;
  snapshot: AgentSnapshot;
  /** What the caller lets other users' agents use, and `calledByOthersAgent`. */
  connectors: readonly string[];
  /** Base of links. */
  baseUrl: string;
}

/** Whether the creator runs the agent directly, not through another user's agent. */
export function isOwnersOwnRun({
  userId,
  ownerId,
  connectors,
}: Pick<RunScope, "userId" | "ownerId" | "connectors">): boolean {
  return userId === ownerId && !connectors.includes(calledByOthersAgent);
}

/** Whether the tools of a run may show and use what belongs to the agent's creator alone: its notes and fixed values. */
export function isOpenRun(scope: Pick<RunScope, "userId" | "ownerId" | "connectors" | "caller">): boolean {
  return isOwnersOwnRun(scope) && scope.caller !== undefined && !isConfined(scope.caller);
}

/** Whether a run may use something that belongs to its caller: own agents always, others with permission. */
export function mayUse(scope: Pick<RunScope, "userId" | "ownerId" | "connectors">, what: RunLeave): boolean {
  return isOwnersOwnRun(scope) || scope.connectors.includes(what);
}

export interface ToolCallRequest {
  /** Stable across retries after a crash: usable as an idempotency key. */
  callId: string;
  /** Checked against `parameters`, with the fixed values of the binding. */
  arguments: Readonly<Record<string, unknown>>;
  /** Names of arguments that are fixed by another user and must not be shown. */
  hidden?: readonly string[];
  /** With a cost limit: the hold of this call, which it must not exceed. */
  setAside?: number;
  /** Aborted when the run is cancelled, out of time, or released by this node. */
  signal: AbortSignal;
}

export interface ToolOutcome {
  /** For the model and the events, without secrets. Truncated by the caller. */
  text: string;
  /** The call failed, and the text says why and what to do. */
  isError: boolean;
  /** Shown once, to the caller of the run only; stored sealed. */
  oneTimeSecret?: { field: string; value: string; last4?: string };
  /** Usage and charge of the call, besides the model calls of the run. */
  used?: CallUsage;
}

/**
 * A tool of a run. `execute` resolves with an outcome for failures upstream and in the arguments. It rejects only if it is
 * aborted or the platform fails; an aborted call that was charged resolves with its usage.
 */
export interface RunTool {
  /** For the model: unique within the run, `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  /** Names of fixed values of the binding that are not arguments of a call. */
  readonly settings?: readonly string[];
  /** The upstream server wrote `parameters` and validates the arguments itself. */
  readonly checksItself?: boolean;
  /** Validates the arguments instead of `parameters`. Throws a Fault with all issues. */
  check?(args: Readonly<Record<string, unknown>>): void;
  /** After a crash, a read is repeated; a write is reported with an unknown outcome. */
  readonly kind: "read" | "write";
  /** Needs a confirmation by default; a binding may override this. */
  readonly asks: boolean;
  execute(call: ToolCallRequest): Promise<ToolOutcome>;
  /** Largest charge of a call, in micros. After an abort the run waits for such a call. */
  mostCost?(args: Readonly<Record<string, unknown>>): Promise<number>;
  /** Arguments for events and confirmations, without secrets. */
  mask?(args: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** What a call would act on now, such as a tenant or a drive. A confirmation is valid only for this target. */
  target?(args: Readonly<Record<string, unknown>>): Promise<string>;
  /** Details for the confirmation, without secrets. Rejects with a Fault if the call would fail. */
  preview?(call: ToolCallRequest): Promise<Record<string, unknown> | undefined>;
}
