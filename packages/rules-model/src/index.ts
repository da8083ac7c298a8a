export type { Message, Request, Step, Tool, ToolCall } from "./conversation.ts";
export { nextStep } from "./plan.ts";
