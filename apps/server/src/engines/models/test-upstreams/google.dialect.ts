import type { Dialect, ScriptedAnswer } from "./text-upstream.ts";

type Part = { text?: string; functionCall?: { name: string }; functionResponse?: { name: string } };

function chunk(fields: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ ...fields, modelVersion: "m-1", responseId: "r1" })}`;
}

function parts(list: readonly Record<string, unknown>[], more: Record<string, unknown> = {}): string {
  return chunk({ candidates: [{ content: { parts: list, role: "model" }, index: 0, ...more }] });
}

type Schema = Record<string, unknown>;

/** Fields of Gemini's schema by type. Any other field is refused. */
const anyType = ["type", "title", "description", "nullable", "default", "example"];
const fieldsOf: Record<string, readonly string[]> = {
  string: ["enum", "format", "minLength", "maxLength", "pattern"],
  integer: ["format", "minimum", "maximum"],
  number: ["format", "minimum", "maximum"],
  boolean: [],
  array: ["items", "minItems", "maxItems"],
  object: ["properties", "required", "minProperties", "maxProperties"],
};
const known = new Set([...anyType, "anyOf", ...Object.values(fieldsOf).flat()]);

/** Gemini's complaint about a schema, at any depth. */
export function schemaProblem(given: unknown, path: string): string | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return `${path}: Proto field is not repeating`;
  const schema = given as Schema;
  const unknown = Object.keys(schema).find((name) => !known.has(name));
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}" at '${path}'`;
  if (schema.anyOf !== undefined) {
    if (Object.keys(schema).length > 1) return `${path}: when using any_of, it must be the only field set`;
    return firstProblem((schema.anyOf as unknown[]).map((one, n) => [`${path}.any_of[${n}]`, one]));
  }
  const { type } = schema;
  if (typeof type !== "string") return `${path}.type: must be specified`;
  const allowed = fieldsOf[type];
  if (!allowed) return `${path}.type: invalid value "${type}"`;
  const wrong = Object.keys(schema).find((name) => ![...anyType, ...allowed].includes(name));
  if (wrong !== undefined) return `${path}.${wrong}: not allowed for ${type.toUpperCase()} type`;
  if (type === "array") {
    return schema.items === undefined ? `${path}.items: missing field.` : schemaProblem(schema.items, `${path}.items`);
  }
  if (Array.isArray(schema.enum)) {
    if (schema.enum.some((one) => typeof one !== "string")) return `Invalid value at '${path}.enum[0]' (TYPE_STRING)`;
    if (schema.enum.includes("")) return `${path}.enum[0]: cannot be empty`;
  }
  if (type !== "object") return undefined;
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  if (Object.keys(properties).length === 0) return `${path}.properties: should be non-empty for OBJECT type`;
  const required = (schema.required ?? []) as string[];
  const undefinedName = required.findIndex((name) => !Object.hasOwn(properties, name));
  if (undefinedName >= 0) return `${path}.required[${undefinedName}]: property is not defined`;
  return firstProblem(Object.entries(properties).map(([name, one]) => [`${path}.properties[${name}]`, one]));
}

function firstProblem(schemas: readonly (readonly [path: string, schema: unknown])[]): string | undefined {
  for (const [path, schema] of schemas) {
    const problem = schemaProblem(schema, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

type Declaration = { name: string; parameters?: Schema };

function declarationProblem({ name, parameters }: Declaration, n: number): string | undefined {
  const path = `tools[0].function_declarations[${n}]`;
  if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)) {
    return `${path}.name: Invalid function name. Must start with a letter or an underscore.`;
  }
  if (parameters === undefined) return undefined;
  if (parameters.type !== "object") return `${path}.parameters: schema should be of type OBJECT`;
  return schemaProblem(parameters, `${path}.parameters`);
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
    if (config.responseSchema !== undefined) {
      return schemaProblem(config.responseSchema, "generation_config.response_schema");
    }
    const [{ functionDeclarations = [] } = {}] = (body.tools ?? []) as { functionDeclarations?: Declaration[] }[];
    for (const [n, declaration] of functionDeclarations.entries()) {
      const problem = declarationProblem(declaration, n);
      if (problem !== undefined) return problem;
    }
    const called = contents.flatMap(({ parts }) =>
      parts.map((part) => (part.functionCall ?? part.functionResponse)?.name),
    );
    const unnamed = called.find((name) => name !== undefined && !/^[a-zA-Z_]/.test(name));
    return unnamed === undefined ? undefined : `Invalid function name: ${unnamed}`;
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
    const reasons = { end: "STOP", length: "MAX_TOKENS", refused: "SAFETY", stop_sequence: "STOP" } as const;
    const finishReason = reasons[answer.stop ?? "end"];
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
