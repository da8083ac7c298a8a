import type { ChatTool } from "./chat.ts";
import type { TextRequest } from "./text-request.ts";

/**
 * Where a protocol cannot bind its answer to a schema beside tools, the answer itself is made a tool: the model must
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
    parameters: responseSchema,
  };
  if (tools.length === 0 || toolChoice === "none") {
    // The tools stay declared: messages of earlier turns refer to them.
    return { tools: [...tools, answerTool], toolChoice: { name: answerToolName } };
  }
  return { tools: [...tools, answerTool], toolChoice: typeof toolChoice === "object" ? toolChoice : "required" };
}
