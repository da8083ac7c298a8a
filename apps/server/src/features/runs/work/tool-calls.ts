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
 * What the parts of a turn share. The calls of a turn are prepared (prepare-calls.ts), stored with the step, finished
 * (finish-calls.ts) and told as events (tell-calls.ts).
 *
 *   wanted ──┬──────────────────────────► started ──► ended
 *            ├──► asking ── approved ─────────▲          ▲
 *            │       └──── denied, expired ──────────────┤
 *            └──► refused ───────────────────────────────┘
 */
export interface ToolTurnDeps extends CallerDeps {
  schemas: Pick<Schemas, "validate" | "validateLoosely">;
  vault: Vault;
  clock: Clock;
  log: Log;
  telemetry: Pick<Telemetry, "inSpan">;
  /**
   * Makes the run of a sub-agent, once, under the id that the call names. False: its price does not fit into what the run
   * may cost beside the calls that are under way; it may when they have ended. Rejects with a Fault, or as the run ends.
   */
  createChild(parent: Run, call: StoredCall, wanted: WantedChild): Promise<boolean>;
}

export interface WantedChild {
  /** Undefined where the run has it no longer. */
  agentId: string | undefined;
  /** The revision that the arguments were checked against; undefined where a claim before this one did that. */
  checked: string | undefined;
  /** Hears of another revision, once it is found and before the arguments are checked against it. */
  onOther(agent: Runnable): void;
  /** Whose key was found to work a moment ago. */
  caller: Caller;
  remainingMs: number;
}

/** A sealed secret opens for the run that it was made in and nowhere else. */
export function secretContext(rootRunId: string, secretId: string): string {
  return `run-secret:${rootRunId}:${secretId}`;
}

/** Of a call, stable over all claims of its run. */
export function idOf(run: Run, { step, position }: StoredCall): string {
  return `${run.id}-${step}-${position}`;
}

export function placeOf({ step, position }: StoredCall): { step: number; position: number } {
  return { step, position };
}

/** The events of a call. What a tool masks stands in none of them. */
export function tellCall({ id }: Run, call: StoredCall, boxed: BoxedTool | undefined): NewEvent {
  const shown = boxed?.kind === "tool" ? boxed.tool.mask?.(call.arguments) : maskIdpCall(call.tool, call.arguments);
  const data = { tool: call.tool, arguments: shown ?? call.arguments, call_id: shownCallId(id, call) };
  return { type: "tool_call", data };
}

/** Of a call of an agent the end of that agent's run tells it, in `write_runs`. */
export function tellResult({ id }: Run, call: StoredCall): NewEvent {
  return {
    type: "tool_result",
    data: { tool: call.tool, result: call.result ?? "", call_id: shownCallId(id, call) },
  };
}

export function tellQuestion(run: Run, asked: Confirmation): NewEvent {
  const { id, tool, arguments: shown, details, expires_at } = asked;
  return {
    type: "confirmation_required",
    data: {
      confirmation_id: id,
      tool,
      arguments: shown,
      expires_at,
      ...(details && { details }),
      call_id: shownCallId(run.id, asked),
    },
  };
}

export type Confirmation = NonNullable<RunChange["confirmations"]>[number];

/**
 * What the events of one call have in common, so that its result is found among those of calls beside it. It is the same
 * over all claims of the run; `shown_call_id` of the database makes the same. A question is also told in the runs above, where it is the id of none of their calls.
 */
export function shownCallId(runId: string, { step, position }: Pick<StoredCall, "step" | "position">): string {
  return `call_${createHash("sha256").update(`${runId}-${step}-${position}`).digest("hex").slice(0, 12)}`;
}
