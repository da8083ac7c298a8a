import type { StoredCall } from "../run.ts";
import type { NewEvent, RunChange } from "../run-change.ts";
import type { BoxedTool } from "../tools/toolbox.ts";

/** The events of a call. What a tool masks stands in none of them. */
export function tellCall(call: StoredCall, boxed: BoxedTool | undefined): NewEvent {
  const shown = boxed?.kind === "tool" ? boxed.tool.mask?.(call.arguments) : undefined;
  return { type: "tool_call", data: { tool: call.tool, arguments: shown ?? call.arguments } };
}

export function tellResult(call: StoredCall): NewEvent {
  return { type: "tool_result", data: { tool: call.tool, result: call.result ?? "" } };
}

export function tellQuestion(asked: Confirmation): NewEvent {
  const { id, tool, arguments: shown, details, expires_at } = asked;
  return {
    type: "confirmation_required",
    data: {
      confirmation_id: id,
      tool,
      arguments: shown,
      expires_at,
      ...(details && { details }),
    },
  };
}

export type Confirmation = NonNullable<RunChange["confirmations"]>[number];
