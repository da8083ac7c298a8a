import type { Dialect, ScriptedAnswer } from "./text-upstream.ts";

type Part = { text?: string; functionCall?: { name: string }; functionResponse?: { name: string } };

function chunk(fields: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ ...fields, modelVersion: "m-1", responseId: "r1" })}`;
}

function parts(list: readonly Record<string, unknown>[], more: Record<string, unknown> = {}): string {
  return chunk({ candidates: [{ content: { parts: list, role: "model" }, index: 0, ...more }] });
}

const unknownKeywords = ["$schema", "$ref", "$defs", "additionalProperties", "const", "oneOf", "allOf"];

function schemaProblem(schema: unknown): string | undefined {
  const text = JSON.stringify(schema ?? {});
  const unknown = unknownKeywords.find((keyword) => text.includes(`"${keyword}":`));
  return unknown === undefined ? undefined : `Invalid JSON payload received. Unknown name "${unknown}"`;
}

export const googleDialect: Dialect = {
  path: "/v1/models/m-1:streamGenerateContent?alt=sse",
  ping: ": ping",
  textBlock: (text) => parts([{ text }]),

  problem(body, headers) {
    if (headers["x-goog-api-key"] !== "sk-secret-4711") return "API key not valid. Please pass a valid API key.";
    const contents = body.contents as { role: string; parts: Part[] }[];
    let calls = 0;
    for (const content of contents) {
      if (content.parts.length === 0) return "contents.parts must not be empty";
      const results = content.parts.filter((part) => part.functionResponse).length;
      if (results !== calls) return "the number of function response parts must equal that of the function call parts";
      calls = content.parts.filter((part) => part.functionCall).length;
    }
    const config = (body.generationConfig ?? {}) as Record<string, unknown>;
    if (config.responseMimeType && body.tools) return "Function calling with a response mime type is unsupported";
    return schemaProblem(body.tools) ?? schemaProblem(config.responseSchema);
  },

  blocks(answer: ScriptedAnswer) {
    const blocks = [
      ...(answer.reasoning ?? []).map((text) => parts([{ text, thought: true }])),
      ...(answer.text ?? []).map((text) => parts([{ text }])),
    ];
    const calls = (answer.toolCalls ?? []).map((call) => ({
      functionCall: { name: call.name, args: JSON.parse(call.arguments) as unknown, id: call.id },
      thoughtSignature: "c2lnbmVk",
    }));
    if (calls.length > 0) blocks.push(parts(calls));
    const finishReason = { end: "STOP", length: "MAX_TOKENS", refused: "SAFETY" }[answer.stop ?? "end"];
    const thoughts = (answer.reasoning ?? []).length > 0 ? 1 : 0;
    const usage = answer.usage && {
      promptTokenCount: answer.usage.input,
      candidatesTokenCount: answer.usage.output - thoughts,
      totalTokenCount: answer.usage.input + answer.usage.output,
      ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
      ...(answer.usage.cached !== undefined && { cachedContentTokenCount: answer.usage.cached }),
    };
    const last = [{ content: { parts: [{ text: "" }], role: "model" }, finishReason, index: 0 }];
    return [...blocks, chunk({ candidates: last, ...(usage && { usageMetadata: usage }) })];
  },

  errorBlock: (kind, message) =>
    `data: ${JSON.stringify({ error: { code: kind === "overloaded" ? 503 : 500, message, status: "INTERNAL" } })}`,
  errorBody: (message) => JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
};
