import type { ChatCall, ChatTool } from "../../../engines/models/chat.ts";
import type { Step } from "../run.ts";
import type { NewEvent, SummingUp } from "../run-change.ts";
import { type MadeCall, saidIn } from "./ask-model.ts";
import { type CountTokens, summaryMessages } from "./compress.ts";
import { type Transcript, visibleSteps } from "./conversation.rules.ts";
import { summaryPrompt } from "./prompts.rules.ts";

/** Of the model's window, for a summary at most. */
const summaryPart = 0.15;

/** The question for a summary of the older steps. */
export async function summaryCall(
  told: Transcript,
  { covers }: SummingUp,
  tools: readonly ChatTool[],
  countTokens: CountTokens,
): Promise<Omit<ChatCall, "signal">> {
  const older = await summaryMessages(told, covers, JSON.stringify(tools), countTokens);
  return {
    messages: [...older, { role: "user", content: summaryPrompt }],
    maxTokens: Math.ceil(told.window * summaryPart),
    ...(tools.length > 0 && { tools, toolChoice: "none" }),
  };
}

/** The step that its answer is, and how that is told. */
export function summaryStep(
  called: MadeCall,
  { covers, before_tokens: before }: SummingUp,
  steps: readonly Step[],
): { step: Step; events: NewEvent[] } {
  const said = { ...saidIn(called, false), covers };
  const count = visibleSteps(steps).filter(({ n }) => n <= covers).length;
  const message = `${count} older steps were summed up; the conversation had about ${before} tokens.`;
  return {
    step: { n: steps.length + 1, kind: "summary", message: said, prompt: null },
    events: [{ type: "compressed", data: { message, before_tokens: before, summary: called.answer.text } }],
  };
}
