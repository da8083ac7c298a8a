import type { DoorChat, ReasoningEffort } from "../../features/predictions/index.ts";
import type { Item } from "../../features/responses/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  type Field,
  fieldOf,
  invalid,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalOneOf,
  optionalRecord,
  optionalText,
  requiredRecord,
} from "../doors/body-fields.ts";
import type { PlacedItem } from "./responses-input.ts";
import { readTools } from "./responses-tools.ts";

type Body = Readonly<Record<string, unknown>>;

export interface ResponseRequest {
  stream: boolean;
  store: boolean;
  background: boolean;
  /** The client keeps sealed thoughts by itself. */
  includesSealed: boolean;
  previousId: string | undefined;
  instructions: string | undefined;
  maxTokens: number | undefined;
  metadata: unknown;
  /** As sent: references are not resolved yet. */
  items: readonly PlacedItem[];
  /** Everything of the chat call except its messages. */
  settings: Omit<DoorChat, "messages" | "maxTokens" | "native">;
  /** Fields that backends of the older protocol get by name. */
  extra: Record<string, unknown>;
  /** Fields that the response repeats. */
  repeated: Record<string, unknown>;
}

/** Fields that would change the answer and have no counterpart here. */
const unsupported = {
  conversation: "Conversations are not supported. Use previous_response_id.",
  prompt: "Prompt templates are not supported. Send instructions and input.",
};

export function readResponseRequest(body: Body): ResponseRequest {
  for (const [name, msg] of Object.entries(unsupported)) {
    const field = fieldOf(body, name);
    if (field.value !== undefined) throw invalid(field, msg);
  }
  const stream = optionalBoolean(fieldOf(body, "stream")) ?? false;
  const store = optionalBoolean(fieldOf(body, "store")) ?? true;
  const background = optionalBoolean(fieldOf(body, "background")) ?? false;
  if (background && !store) throw invalid(fieldOf(body, "background"), "A background response must be stored.");
  if (background && stream)
    throw invalid(fieldOf(body, "stream"), "A background response cannot be streamed. Read it by its id.");
  const include = optionalList(fieldOf(body, "include")) ?? [];
  const maxTokens = optionalNumber(fieldOf(body, "max_output_tokens"), { from: 1, whole: true });
  return {
    stream,
    store,
    background,
    includesSealed: include.includes("reasoning.encrypted_content"),
    previousId: optionalText(fieldOf(body, "previous_response_id")),
    instructions: optionalText(fieldOf(body, "instructions")),
    maxTokens,
    metadata: body.metadata,
    items: itemsOf(fieldOf(body, "input")),
    settings: settingsOf(body),
    extra: extraOf(body),
    repeated: repeatedOf(body, { store, background, max_output_tokens: maxTokens ?? null }),
  };
}

function itemsOf(field: Field): PlacedItem[] {
  if (typeof field.value === "string") {
    if (field.value === "") return [];
    const content = [{ type: "input_text", text: field.value }];
    return [{ item: { type: "message", role: "user", content }, loc: field.loc }];
  }
  return (optionalList(field) ?? []).map((value, index) => {
    const loc = [...field.loc, index];
    return { item: requiredRecord({ value, loc }) satisfies Item, loc };
  });
}

const efforts: ReadonlySet<unknown> = new Set<ReasoningEffort>(["none", "minimal", "low", "medium", "high", "xhigh"]);
function settingsOf(body: Body): ResponseRequest["settings"] {
  const reasoning = optionalRecord(fieldOf(body, "reasoning"));
  const text = optionalRecord(fieldOf(body, "text")) ?? {};
  return {
    ...readTools(body),
    ...formatOf(fieldOf(text, "format", ["body", "text"])),
    ...definedOf({
      parallelToolCalls: optionalBoolean(fieldOf(body, "parallel_tool_calls")),
      temperature: optionalNumber(fieldOf(body, "temperature"), { from: 0, to: 2 }),
      topP: optionalNumber(fieldOf(body, "top_p"), { from: 0, to: 1 }),
      stop: stopsOf(fieldOf(body, "stop")),
    }),
    ...(efforts.has(reasoning?.effort) && { reasoningEffort: reasoning?.effort as ReasoningEffort }),
  };
}

function extraOf({ service_tier, prompt_cache_key, text }: Body): Record<string, unknown> {
  const named = { service_tier, prompt_cache_key, verbosity: isRecord(text) ? text.verbosity : undefined };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => typeof value === "string"));
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function definedOf<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function stopsOf(field: Field): string[] | undefined {
  const given = typeof field.value === "string" ? [field.value] : optionalList(field);
  return given?.flatMap((value, index) => optionalText({ value, loc: [...field.loc, index] }) || []);
}

function formatOf(field: Field): Pick<DoorChat, "responseFormat" | "responseSchema"> {
  const format = optionalRecord(field);
  if (!format) return {};
  const type = optionalOneOf(fieldOf(format, "type", field.loc), ["text", "json_object", "json_schema"]) ?? "text";
  if (type === "text") return {};
  if (type === "json_object") return { responseFormat: "json" };
  return { responseSchema: requiredRecord(fieldOf(format, "schema", field.loc)) };
}

/** Defaults of fields that the protocol requires in every response. */
const defaults = {
  instructions: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
};

function repeatedOf(body: Body, known: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(defaults).map(([name, usual]) => [name, body[name] ?? usual]);
  const repeated = { ...Object.fromEntries(given), ...known };
  return Array.isArray(repeated.tools) ? { ...repeated, tools: repeated.tools.map(withoutCredentials) } : repeated;
}

/** Responses are stored, exported, and read by others of a team. */
function withoutCredentials(tool: unknown): unknown {
  if (!isRecord(tool) || tool.type !== "mcp") return tool;
  const { authorization: _token, headers: _tokens, server_url: address, ...shown } = tool;
  const url = URL.parse(String(address));
  return url === null ? shown : { ...shown, server_url: `${url.origin}${url.pathname}` };
}
