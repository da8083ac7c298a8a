import type { ChatCall } from "../chat.ts";
import type { Dialect, ScriptedAnswer } from "./text-upstream.ts";

function chunk(fields: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m-1", ...fields })}`;
}

function delta(fields: Record<string, unknown>, finish: string | null = null): string {
  return chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }] });
}

type Message = { role: string; content?: unknown; tool_calls?: { id: string }[]; tool_call_id?: string };

type Tool = { function: { name: string; parameters?: Record<string, unknown> } };

function toolProblem({ function: { name, parameters } }: Tool): string | undefined {
  const isPlain = ["oneOf", "anyOf", "allOf", "enum", "not"].every((word) => !(word in (parameters ?? {})));
  if (parameters === undefined || (parameters.type === "object" && isPlain)) return undefined;
  return `Invalid schema for function '${name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
}

function finishOf({ toolCalls = [], stop = "end" }: ScriptedAnswer): string {
  const reasons = { end: "stop", length: "length", refused: "content_filter", stop_sequence: "stop" } as const;
  return toolCalls.length > 0 ? "tool_calls" : reasons[stop];
}

function usageOf({ input, output, cached }: NonNullable<ScriptedAnswer["usage"]>) {
  const details = cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...details };
}

/** A request of a client that speaks this protocol itself. */
export const nativeChat = (body: object, stream = true): Pick<ChatCall, "maxTokens" | "native"> => ({
  maxTokens: 100,
  native: { protocol: "openai-chat", stream, body: { messages: [{ role: "user", content: "Hi" }], ...body } },
});

export const openAiChatDialect: Dialect = {
  path: "/v1/chat/completions",
  ping: ": OPENROUTER PROCESSING",
  textBlock: (text) => delta({ content: text }),

  problem(body, headers) {
    if (headers.authorization !== "Bearer sk-secret-4711") return "Incorrect API key provided";
    if (body.stream !== true && "stream_options" in body)
      return "stream_options is only allowed when stream is enabled";
    const messages = body.messages as Message[];
    if (!Array.isArray(messages) || messages.length === 0) return "messages: empty array";
    for (const tool of (body.tools ?? []) as Tool[]) {
      const problem = toolProblem(tool);
      if (problem !== undefined) return problem;
    }
    let open: string[] = [];
    for (const message of messages) {
      if (message.role === "tool") {
        if (!open.includes(message.tool_call_id ?? "")) return "messages with role 'tool' must follow their tool_calls";
        open = open.filter((id) => id !== message.tool_call_id);
      } else if (open.length > 0) return `tool_call_ids without a response: ${open.join()}`;
      if (message.tool_calls) open = message.tool_calls.map((call) => call.id);
      if (message.content === null && !message.tool_calls) return "content must not be null";
    }
    return open.length > 0 ? `tool_call_ids without a response: ${open.join()}` : undefined;
  },

  blocks(answer: ScriptedAnswer) {
    const blocks = [delta({ role: "assistant", content: "", refusal: null })];
    for (const piece of answer.reasoning ?? []) blocks.push(delta({ reasoning_content: piece }));
    for (const piece of answer.text ?? []) blocks.push(delta({ content: piece }));
    // Parallel calls start one after the other; fragments of their arguments are interleaved.
    const calls = answer.toolCalls ?? [];
    calls.forEach((call, index) => {
      const opening = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
      blocks.push(delta({ tool_calls: [opening] }));
    });
    for (const half of [0, 1]) {
      calls.forEach((call, index) => {
        const middle = Math.ceil(call.arguments.length / 2);
        const piece = half === 0 ? call.arguments.slice(0, middle) : call.arguments.slice(middle);
        blocks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
      });
    }
    blocks.push(delta({}, finishOf(answer)));
    if (answer.usage) blocks.push(chunk({ choices: [], usage: usageOf(answer.usage) }));
    return [...blocks, "data: [DONE]"];
  },

  whole(answer: ScriptedAnswer) {
    const thoughts = (answer.reasoning ?? []).join("");
    const tool_calls = (answer.toolCalls ?? []).map(({ id, name, arguments: json }) => {
      return { id, type: "function", function: { name, arguments: json } };
    });
    const message = {
      role: "assistant",
      content: answer.text?.join("") ?? null,
      ...(thoughts !== "" && { reasoning_content: thoughts }),
      ...(tool_calls.length > 0 && { tool_calls }),
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m-1",
      choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
      ...(answer.usage && { usage: usageOf(answer.usage) }),
    };
  },

  errorBlock: (kind, message) =>
    `data: ${JSON.stringify({ error: { message, type: "server_error", code: kind === "overloaded" ? 503 : "boom" } })}`,
  errorBody: (message) =>
    JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }),
};
