import type { AgentSnapshot } from "@gantry/wire";
import type { ChatCall, ChatTool } from "../../../engines/models/chat.ts";
import type { SchemaFault } from "../../../engines/schemas/schemas.ts";
import type { Step, StepKind } from "../run.ts";
import { isCutText } from "./cut-answers.rules.ts";
import {
  afterCutPlanning,
  afterPlanning,
  cutAnswerPrompt,
  faultsPrompt,
  formattingPrompt,
  goOnPrompt,
  planningPrompt,
} from "./prompts.rules.ts";

export interface NextCall {
  kind: Exclude<StepKind, "summary">;
  /** Added to the conversation as a user message. */
  prompt?: string;
  chat: Pick<ChatCall, "tools" | "toolChoice" | "responseSchema">;
}

export interface RunState {
  snapshot: Pick<AgentSnapshot, "instructions" | "output_schema">;
  tools: readonly ChatTool[];
  /** The last step that is not a summary. */
  last: Step | undefined;
  /** The text of the last step, joined with parts that were cut off. */
  text: string;
  /** Issues of the final answer, if the last step was one. */
  faults: readonly SchemaFault[];
}

/**
 * Decides the next call:
 *
 *   (nothing) ──► plan ──► work ⇄ tools ──► format ⇄ faults
 *       └───────────────────▲
 *
 * Text that was cut off is continued in another call of the same kind. With a schema, the answer is requested again.
 */
export function nextCall({ snapshot, tools, last, text, faults }: RunState): NextCall {
  const { instructions, output_schema } = snapshot;
  const schema = output_schema ? { responseSchema: output_schema } : {};
  const noCall = tools.length > 0 ? { tools, toolChoice: "none" as const } : {};
  if (!last && instructions.planning) {
    return { kind: "plan", prompt: planningPrompt(instructions.planning), chat: noCall };
  }
  const cutAt = last && isCutText(last) ? last.message.cutAtTokens : undefined;
  // Without any text the work has not ended, even if the answer has a schema.
  const isEmpty = last?.kind === "work" && text.trim() === "" && tools.length > 0;
  if (last && last.kind !== "plan" && cutAt !== undefined && (!output_schema || isEmpty)) {
    const prompt = goOnPrompt(text, cutAt);
    if (last.kind === "format") return { kind: "format", prompt, chat: noCall };
    return { kind: "work", prompt, chat: tools.length > 0 ? { tools } : {} };
  }
  if (last?.kind === "format") {
    const prompt = cutAt === undefined ? faultsPrompt(faults) : cutAnswerPrompt(cutAt);
    return { kind: "format", prompt, chat: { ...noCall, ...schema } };
  }
  if (last?.kind === "work" && last.message.toolCalls.length === 0) {
    return { kind: "format", prompt: formattingPrompt(snapshot, cutAt), chat: { ...noCall, ...schema } };
  }
  const prompt = last?.kind === "plan" ? { prompt: cutAt === undefined ? afterPlanning : afterCutPlanning(cutAt) } : {};
  // Without tools the answer comes at once.
  if (tools.length === 0 && output_schema) return { kind: "format", ...prompt, chat: schema };
  return { kind: "work", ...prompt, chat: tools.length > 0 ? { tools } : {} };
}
