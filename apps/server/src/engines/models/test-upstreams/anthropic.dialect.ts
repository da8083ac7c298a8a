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

export const anthropicDialect: Dialect = {
  path: "/v1/messages",
  ping: event({ type: "ping" }),
  textBlock: (text) => event({ type: "content_block_delta", index: textIndex, delta: { type: "text_delta", text } }),

  problem(body, headers) {
    if (headers["x-api-key"] !== "sk-secret-4711") return "invalid x-api-key";
    if (headers["anthropic-version"] !== "2023-06-01") return "anthropic-version: header is required";
    if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
    if ("seed" in body) return "seed: Extra inputs are not permitted";
    if (body.stream !== true) return "this server only streams";
    for (const [n, tool] of ((body.tools ?? []) as Tool[]).entries()) {
      const problem = toolProblem(tool, n);
      if (problem !== undefined) return problem;
    }
    return messageProblem(body.messages as Message[]);
  },

  blocks(answer: ScriptedAnswer) {
    const { input = 1, output = 1, cached } = answer.usage ?? {};
    const first = answer.usage
      ? { input_tokens: input - (cached ?? 0), cache_read_input_tokens: cached ?? 0, cache_creation_input_tokens: 0 }
      : {};
    const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "m-1", stop_reason: null };
    const blocks = [event({ type: "message_start", message: { ...message, usage: { ...first, output_tokens: 1 } } })];
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
    const ends = { end: "end_turn", length: "max_tokens", refused: "refusal" } as const;
    const stop = (answer.toolCalls ?? []).length > 0 ? "tool_use" : ends[answer.stop ?? "end"];
    const usage = answer.usage ? { usage: { output_tokens: output } } : {};
    blocks.push(event({ type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, ...usage }));
    return [...blocks, event({ type: "message_stop" })];
  },

  errorBlock: (kind, message) =>
    event({ type: "error", error: { type: kind === "overloaded" ? "overloaded_error" : "api_error", message } }),
  errorBody: (message) => JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }),
};
