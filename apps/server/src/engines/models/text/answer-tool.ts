import type { ChatTool } from "../chat.ts";
import type { TextRequest } from "./request.ts";

/**
 * For protocols and servers that cannot bind an answer to a schema, or not together with tools: the model submits its
 * answer as the arguments of this tool.
 */
export const answerToolName = "gantry_submit_answer";

export function withAnswerTool({ tools = [], toolChoice, responseSchema }: TextRequest): {
  tools: readonly ChatTool[];
  toolChoice: TextRequest["toolChoice"];
} {
  if (!responseSchema) return { tools, toolChoice };
  const answerTool = {
    name: answerToolName,
    description: "Submits the final answer. Call it once, alone, when everything is known.",
    parameters: { type: "object", ...responseSchema },
  };
  if (tools.length === 0 || toolChoice === "none") {
    // Earlier messages refer to the tools, so they stay declared.
    return { tools: [...tools, answerTool], toolChoice: { name: answerToolName } };
  }
  return { tools: [...tools, answerTool], toolChoice: typeof toolChoice === "object" ? toolChoice : "required" };
}
