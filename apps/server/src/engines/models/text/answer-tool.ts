import type { ChatTool } from "../chat.ts";
import type { TextAnswer } from "./answer.ts";
import type { TextRequest } from "./request.ts";

/**
 * Where a protocol or a server cannot bind its answer to a schema, or not beside tools, the answer itself is made a tool: the model must
 * call one, and what it hands to this one is the answer.
 */
export const answerToolName = "gantry_submit_answer";

export function withAnswerTool({ tools = [], toolChoice, responseSchema }: TextRequest): {
  tools: readonly ChatTool[];
  toolChoice: TextRequest["toolChoice"];
} {
  if (!responseSchema) return { tools, toolChoice };
  const answerTool = {
    name: answerToolName,
    description: "Hands in the final answer. Call it once, alone, when everything is known.",
    parameters: { type: "object", ...responseSchema },
  };
  if (tools.length === 0 || toolChoice === "none") {
    // The tools stay declared: messages of earlier turns refer to them.
    return { tools: [...tools, answerTool], toolChoice: { name: answerToolName } };
  }
  return { tools: [...tools, answerTool], toolChoice: typeof toolChoice === "object" ? toolChoice : "required" };
}

/**
 * What was handed to the answer tool becomes the answer, unless other tools were called beside it. Of an answer that was
 * cut it is the part that came; that it is no more than that is said by how the answer stopped.
 */
export function takeHandedIn(answer: TextAnswer): void | Promise<void> {
  const { toolCalls } = answer;
  const handedIn = toolCalls.find((call) => call.name === answerToolName);
  if (!handedIn) return;
  toolCalls.splice(0, toolCalls.length, ...toolCalls.filter((call) => call.name !== answerToolName));
  if (toolCalls.length > 0) return;
  // What was said on the way to the answer is no part of it.
  answer.reasoning += answer.text;
  answer.text = "";
  return answer.addText(handedIn.json || (answer.cutByLength ? "" : "{}"));
}
