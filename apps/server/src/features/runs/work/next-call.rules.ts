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
  /** Said to the model after the conversation so far. */
  prompt?: string;
  chat: Pick<ChatCall, "tools" | "toolChoice" | "responseSchema">;
}

/** What decides the next call of a run that is not done yet. */
export interface Standing {
  snapshot: Pick<AgentSnapshot, "instructions" | "output_schema">;
  tools: readonly ChatTool[];
  /** The last step that is no summary. */
  last: Step | undefined;
  /** What was said last, with the pieces before it that broke off. */
  said: string;
  /** What is wrong with the last step's answer, where it was to be the final one. */
  faults: readonly SchemaFault[];
}

/**
 * The kind of the next call, and what is said to the model beside the conversation.
 *
 *   (nothing) ──► plan ──► work ⇄ tools ──► format ⇄ faults
 *       └───────────────────▲
 *
 * A text that was cut is gone on with in another call of its kind; where it is to satisfy a schema it is asked for anew.
 */
export function nextCall({ snapshot, tools, last, said, faults }: Standing): NextCall {
  const { instructions, output_schema } = snapshot;
  const schema = output_schema ? { responseSchema: output_schema } : {};
  const noCall = tools.length > 0 ? { tools, toolChoice: "none" as const } : {};
  if (!last && instructions.planning) {
    return { kind: "plan", prompt: planningPrompt(instructions.planning), chat: noCall };
  }
  const cutAt = last && isCutText(last) ? last.message.cutAtTokens : undefined;
  // Where nothing was said at all the work has not ended yet, whatever form its answer is to have.
  const isUnsaid = last?.kind === "work" && said.trim() === "" && tools.length > 0;
  if (last && last.kind !== "plan" && cutAt !== undefined && (!output_schema || isUnsaid)) {
    const prompt = goOnPrompt(said, cutAt);
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
  // Without tools there is nothing to do before the answer.
  if (tools.length === 0 && output_schema) return { kind: "format", ...prompt, chat: schema };
  return { kind: "work", ...prompt, chat: tools.length > 0 ? { tools } : {} };
}
