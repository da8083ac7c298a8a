import type { AgentSnapshot, RunLeave } from "@gantry/wire";
import type { Caller } from "../../accounts/index.ts";
import type { UsedByCall } from "../run-writer.ts";

/**
 * Among the connectors of a run: a run above it is of another's agent. One's own agent needs no leave to use what is
 * one's own; one that somebody else's agent sets to work does.
 */
export const calledByOthersAgent = "under-others";

/** Who runs an agent, and what that agent may use: all that the tools of one run depend on. */
export interface RunScope {
  runId: string;
  /** Who asked for the run and pays for it. */
  userId: string;
  /** The same, as its key may act; undefined once that works no longer. Nothing is called then. */
  caller: Caller | undefined;
  /** The agent's creator, whose drives and tool servers it uses. Equal to `userId` where one runs one's own. */
  ownerId: string;
  snapshot: AgentSnapshot;
  /** What of its own the caller lets another's agent use, and `calledByOthersAgent`. */
  connectors: readonly string[];
  /** The address that links carry. */
  baseUrl: string;
}

/**
 * Whether the agent is run by its creator, for itself. Below another's agent one's own is run as it would be for anybody
 * else: what it does there is what that other one wants.
 */
export function isOwnersOwnRun({
  userId,
  ownerId,
  connectors,
}: Pick<RunScope, "userId" | "ownerId" | "connectors">): boolean {
  return userId === ownerId && !connectors.includes(calledByOthersAgent);
}

/** Whether a run may use what is its caller's own: for itself always, another's agent with the caller's leave. */
export function mayUse(scope: Pick<RunScope, "userId" | "ownerId" | "connectors">, what: RunLeave): boolean {
  return isOwnersOwnRun(scope) || scope.connectors.includes(what);
}

export interface ToolCallRequest {
  /** Of this call, stable over a repeat after a crash: an idempotency id for whoever takes one. */
  callId: string;
  /** Checked against `parameters`; the binding's fixed values are in it. */
  arguments: Readonly<Record<string, unknown>>;
  /** Arguments that nothing of may be told, as the binding fixes them and its creator is somebody else; left out: none. */
  hidden?: readonly string[];
  /** Of a run with a cost limit: the amount set aside for this call, which it must not exceed. */
  setAside?: number;
  /** Aborted when the run is cancelled, out of time, or handed to another node. */
  signal: AbortSignal;
}

export interface ToolOutcome {
  /** What the model and the events get; nothing in it is secret. Cut to the bound by whoever runs the tool. */
  text: string;
  /** The call failed, and the text says why and what to do: it is told to the model. */
  isError: boolean;
  /** Something that only the run's caller may see, and once: stored sealed, fetched by its own route. */
  oneTimeSecret?: { field: string; value: string; last4?: string };
  /** What the call used and cost the caller, on top of the run's own model calls. */
  used?: UsedByCall;
}

/**
 * A tool as a run has it. `execute` resolves with an outcome for everything that can go wrong on the far side and in the
 * arguments; it rejects only when aborted, or when the platform itself fails. One that has cost something by the time it
 * is aborted does not reject: its outcome says what.
 */
export interface RunTool {
  /** As the model calls it: unique within the run, `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>;
  /** Whoever executes it wrote `parameters` and checks the arguments as well; left out: `parameters` are all there is. */
  readonly checksItself?: boolean;
  /**
   * Throws a Fault with everything that is wrong with the arguments, what cannot be stored too. Left out: `parameters`
   * decide; given, they only tell the model what to send.
   */
  check?(args: Readonly<Record<string, unknown>>): void;
  /** A read that a crash interrupted is made again; a write is reported as "outcome unknown". */
  readonly kind: "read" | "write";
  /** Asks by default before it is called; a binding may say otherwise. */
  readonly asks: boolean;
  execute(call: ToolCallRequest): Promise<ToolOutcome>;
  /**
   * What a call may cost the caller at most, in millionths of a dollar; left out: nothing. One that may cost something
   * ends by itself soon after it is aborted, and is waited for.
   */
  mostCost?(args: Readonly<Record<string, unknown>>): Promise<number>;
  /** The arguments as events and questions may show them; left out: as they are. */
  mask?(args: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /**
   * What a call would reach at this moment: a tenant, a server, a drive. An approval is good for that alone. Left out: the
   * arguments say it all. Rejects with a Fault when there is nothing to reach.
   */
  target?(args: Readonly<Record<string, unknown>>): Promise<string>;
  /**
   * What the question shows beside tool and arguments, if anything, without secrets. Rejects with a Fault when the call
   * could not be made: then nobody is asked.
   */
  preview?(call: ToolCallRequest): Promise<Record<string, unknown> | undefined>;
}
