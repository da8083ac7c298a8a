import type { Dialect, ScriptedAnswer } from "./text-upstream.ts";

type Block = { type: string; text?: string; id?: string; tool_use_id?: string; signature?: string };
type Message = { role: string; content: Block[] };

function event(fields: { type: string } & Record<string, unknown>): string {
  return `event: ${fields.type}\ndata: ${JSON.stringify(fields)}`;
}

/** Text is always in block 1, so that a fragment can be written alone. */
const textIndex = 1;

function block(index: number, content: Record<string, unknown>, deltas: Record<string, unknown>[]): string[] {
  return [
    event({ type: "content_block_start", index, content_block: content }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ];
}

function messageProblem(messages: Message[]): string | undefined {
  let open: string[] = [];
  let before = "assistant";
  for (const { role, content } of messages) {
    if (role === before) return `messages: roles must alternate, found ${role} twice`;
    before = role;
    const results = content.filter((one) => one.type === "tool_result").map((one) => one.tool_use_id);
    if (open.some((id) => !results.includes(id))) return "tool_use ids were found without tool_result blocks after";
    if (results.some((id) => !open.includes(id ?? ""))) return "unexpected tool_use_id";
    if (content.some((one) => one.type === "text" && one.text === "")) return "text content blocks must be non-empty";
    if (content.some((one) => one.type === "thinking" && !one.signature)) {
      return "messages.1.content.0: Invalid `signature` in `thinking` block";
    }
    open = content.filter((one) => one.type === "tool_use").map((one) => one.id ?? "");
  }
  return open.length > 0 ? "tool_use ids were found without tool_result blocks after" : undefined;
}

type Tool = { name: string; input_schema?: Record<string, unknown> };

function toolProblem({ name, input_schema: schema }: Tool, n: number): string | undefined {
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return `tools.${n}.custom.name: String should match pattern`;
  if (schema?.type !== "object") return `tools.${n}.custom.input_schema.type: Input should be 'object'`;
  return ["oneOf", "allOf", "anyOf"].some((word) => word in schema)
    ? `tools.${n}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
    : undefined;
}

const versions = ["2026-10-21", "2023-06-01"];

type Thinking = { type: string; budget_tokens?: number };

function thinkingProblem(body: Record<string, unknown>): string | undefined {
  const thinking = body.thinking as Thinking | undefined;
  if (thinking?.type !== "enabled") return undefined;
  const { budget_tokens: budget = 0 } = thinking;
  if (budget < 1024) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (budget >= Number(body.max_tokens)) return "`max_tokens` must be greater than `thinking.budget_tokens`";
  if ("temperature" in body || "top_p" in body) return "`temperature` may only be set to 1 when thinking is enabled";
  const choice = (body.tool_choice as { type: string } | undefined)?.type;
  if (choice === "any" || choice === "tool") return "Thinking may not be enabled when tool_choice forces tool use.";
  const last = (body.messages as Message[]).findLast(({ role }) => role === "assistant");
  const starts = last?.content[0]?.type;
  if (!last?.content.some(({ type }) => type === "tool_use") || starts === "thinking") return undefined;
  return "Expected `thinking` or `redacted_thinking`, but found `tool_use`";
}

function stopOf({ toolCalls = [], stop = "end", stopText }: ScriptedAnswer) {
  const reasons = {
    end: "end_turn",
    length: "max_tokens",
    refused: "refusal",
    stop_sequence: "stop_sequence",
  } as const;
  return { stop_reason: toolCalls.length > 0 ? "tool_use" : reasons[stop], stop_sequence: stopText ?? null };
}

function inputUsage({ usage }: ScriptedAnswer) {
  if (!usage) return {};
  const { input, cached = 0 } = usage;
  return { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0 };
}

const message = { id: "msg_1", type: "message", role: "assistant", model: "m-1" };

export const anthropicDialect: Dialect = {
  path: "/v1/messages",
  ping: event({ type: "ping" }),
  textBlock: (text) => event({ type: "content_block_delta", index: textIndex, delta: { type: "text_delta", text } }),

  problem(body, headers) {
    if (headers["x-api-key"] !== "sk-secret-4711") return "invalid x-api-key";
    if (!versions.includes(String(headers["anthropic-version"]))) return "anthropic-version: header is required";
    const isNewest = headers["anthropic-version"] === versions[0];
    const removed = ["temperature", "top_p", "top_k"].find((name) => isNewest && name in body);
    if (removed !== undefined) return `${removed}: Extra inputs are not permitted`;
    if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
    if ("seed" in body) return "seed: Extra inputs are not permitted";
    const thinkingIssue = thinkingProblem(body);
    if (thinkingIssue !== undefined) return thinkingIssue;
    for (const [n, tool] of ((body.tools ?? []) as Tool[]).entries()) {
      const problem = toolProblem(tool, n);
      if (problem !== undefined) return problem;
    }
    return messageProblem(body.messages as Message[]);
  },

  blocks(answer: ScriptedAnswer) {
    const usageAtStart = { ...inputUsage(answer), output_tokens: 1 };
    const opening = { ...message, content: [], stop_reason: null, usage: usageAtStart };
    const blocks = [event({ type: "message_start", message: opening })];
    const thoughts = (answer.reasoning ?? []).map((thinking) => ({ type: "thinking_delta", thinking }));
    if (thoughts.length > 0) {
      const signed = [...thoughts, { type: "signature_delta", signature: "c2lnbmVk" }];
      blocks.push(...block(0, { type: "thinking", thinking: "", signature: "" }, signed));
    }
    const texts = (answer.text ?? []).map((text) => ({ type: "text_delta", text }));
    if (texts.length > 0) blocks.push(...block(textIndex, { type: "text", text: "" }, texts));
    (answer.toolCalls ?? []).forEach((call, n) => {
      const middle = Math.ceil(call.arguments.length / 2);
      const pieces = ["", call.arguments.slice(0, middle), call.arguments.slice(middle)];
      const deltas = pieces.map((partial_json) => ({ type: "input_json_delta", partial_json }));
      blocks.push(...block(n + 2, { type: "tool_use", id: call.id, name: call.name, input: {} }, deltas));
    });
    const usage = answer.usage ? { usage: { output_tokens: answer.usage.output } } : {};
    blocks.push(event({ type: "message_delta", delta: stopOf(answer), ...usage }));
    return [...blocks, event({ type: "message_stop" })];
  },

  whole(answer: ScriptedAnswer) {
    const thoughts = (answer.reasoning ?? []).join("");
    const text = (answer.text ?? []).join("");
    const calls = (answer.toolCalls ?? []).map(({ id, name, arguments: json }) => {
      return { type: "tool_use", id, name, input: JSON.parse(json) as unknown };
    });
    return {
      ...message,
      content: [
        ...(thoughts === "" ? [] : [{ type: "thinking", thinking: thoughts, signature: "c2lnbmVk" }]),
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...calls,
      ],
      ...stopOf(answer),
      usage: { ...inputUsage(answer), output_tokens: answer.usage?.output ?? 1 },
    };
  },

  errorBlock: (kind, message) =>
    event({ type: "error", error: { type: kind === "overloaded" ? "overloaded_error" : "api_error", message } }),
  errorBody: (message) => JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }),
};
