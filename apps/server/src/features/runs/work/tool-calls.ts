import { createHash } from "node:crypto";
import type { Schemas } from "../../../engines/schemas/schemas.ts";
import type { Telemetry } from "../../../engines/telemetry/telemetry.ts";
import type { Vault } from "../../../engines/vault/vault.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Runnable } from "../../agents/index.ts";
import type { Run, StoredCall } from "../run.ts";
import type { NewEvent, RunChange } from "../run-writer.ts";
import { maskIdpCall } from "../tools/idp-tools.ts";
import type { BoxedTool } from "../tools/toolbox.ts";
import type { CallerDeps } from "./access.ts";

/**
 * The calls of a step are prepared (prepare-calls.ts), stored with the step and finished (finish-calls.ts).
 *
 *   wanted ──┬──────────────────────────► started ──► ended
 *            ├──► asking ── approved ─────────▲          ▲
 *            │       └──── denied, expired ──────────────┤
 *            └──► refused ───────────────────────────────┘
 */
export interface ToolStepDeps extends CallerDeps {
  schemas: Pick<Schemas, "validate" | "validateLoosely">;
  vault: Vault;
  clock: Clock;
  log: Log;
  telemetry: Pick<Telemetry, "inSpan" | "capturesContent">;
  /**
   * Creates the run of a sub-agent once, with the id in the call. False if its price does not fit beside the holds of other
   * calls: try again later. Rejects with a Fault, or when the run ends.
   */
  createChild(parent: Run, call: StoredCall, wanted: WantedChild): Promise<boolean>;
}

export interface WantedChild {
  /** Undefined if the agent is no longer a tool of the run. */
  agentId: string | undefined;
  /** The revision that the arguments were checked against; undefined if an earlier claim checked them. */
  checked: string | undefined;
  /** Called with a newer revision before the arguments are checked against it. */
  onOther(agent: Runnable): void;
  /** With a key that was just checked. */
  caller: Caller;
  remainingMs: number;
}

/** Binds a sealed secret to its run. */
export function secretContext(rootRunId: string, secretId: string): string {
  return `run-secret:${rootRunId}:${secretId}`;
}

/** The id of a call, stable across claims. */
export function idOf(run: Pick<Run, "id">, { step, position }: Pick<StoredCall, "step" | "position">): string {
  return `${run.id}-${step}-${position}`;
}

export function positionOf({ step, position }: StoredCall): { step: number; position: number } {
  return { step, position };
}

/** Without secrets and fixed values of the creator. */
export function shownArguments(call: StoredCall, boxed: BoxedTool | undefined): Record<string, unknown> {
  const masked = boxed?.kind === "tool" ? boxed.tool.mask?.(call.arguments) : maskIdpCall(call.tool, call.arguments);
  return masked ?? call.arguments;
}

/** Events contain only masked arguments. */
export function callEvent({ id }: Run, call: StoredCall, boxed: BoxedTool | undefined): NewEvent {
  const data = { tool: call.tool, arguments: shownArguments(call, boxed), call_id: shownCallId(id, call) };
  return { type: "tool_call", data };
}

/** For sub-agents, `write_runs` adds this event at the end of their run. */
export function resultEvent({ id }: Run, call: StoredCall): NewEvent {
  return {
    type: "tool_result",
    data: { tool: call.tool, result: call.result ?? "", call_id: shownCallId(id, call) },
  };
}

export function confirmationEvent(run: Run, confirmation: Confirmation): NewEvent {
  const { id, tool, arguments: shown, details, expires_at } = confirmation;
  return {
    type: "confirmation_required",
    data: {
      confirmation_id: id,
      tool,
      arguments: shown,
      expires_at,
      ...(details && { details }),
      call_id: shownCallId(run.id, confirmation),
    },
  };
}

export type Confirmation = NonNullable<RunChange["confirmations"]>[number];

/** Links the events of a call. Stable across claims; the SQL function `shown_call_id` computes the same value. */
export function shownCallId(runId: string, { step, position }: Pick<StoredCall, "step" | "position">): string {
  return `call_${createHash("sha256").update(`${runId}-${step}-${position}`).digest("hex").slice(0, 12)}`;
}
