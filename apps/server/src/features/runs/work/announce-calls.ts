import type { Run, StoredCall } from "../run.ts";
import type { NewEvent, RunChange } from "../run-change.ts";
import { maskIdpCall } from "../tools/idp-tools.ts";
import type { BoxedTool } from "../tools/toolbox.ts";
import { shownCallId } from "./call-id.rules.ts";

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
