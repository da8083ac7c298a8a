import type { ChatTool, DoorChat, ReadImage } from "../../features/predictions/index.ts";
import {
  type Field,
  fieldOf,
  invalid,
  missing,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalOneOf,
  optionalRecord,
  optionalText,
  requiredRecord,
  requiredText,
} from "../doors/body-fields.ts";
import type { DoorRequest } from "../doors/chat-door.ts";
import type { ChunkOptions } from "./chat-relay.ts";
import { readMessages } from "./openai-messages.ts";

type Body = Readonly<Record<string, unknown>>;

/** What matters to every backend. */
export interface ChatCompletionRequest
  extends ChunkOptions,
    Pick<DoorRequest, "stream" | "maxTokens" | "metadata" | "translate"> {}

export function readChatRequest(body: Body): ChatCompletionRequest {
  const messages = fieldOf(body, "messages");
  const list = optionalList(messages);
  if (!list) throw missing(messages);
  if (list.length === 0) throw invalid(messages, "The list must contain at least one message.");
  const count = fieldOf(body, "n");
  if ((optionalNumber(count, { from: 1, whole: true }) ?? 1) > 1)
    throw invalid(count, "Only one answer per request is supported. Leave n out, or send several requests.");
  const options = optionalRecord(fieldOf(body, "stream_options")) ?? {};
  const limits = ["max_completion_tokens", "max_tokens"].map((name) =>
    optionalNumber(fieldOf(body, name), { from: 1, whole: true }),
  );
  return {
    stream: optionalBoolean(fieldOf(body, "stream")) ?? false,
    maxTokens: limits.find((limit) => limit !== undefined),
    metadata: body.metadata,
    includesUsage: options.include_usage === true,
    repeatsUsage: options.continuous_usage_stats === true,
    translate: (readImage) => translate(body, list, readImage),
  };
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

async function translate(
  body: Body,
  messages: readonly unknown[],
  readImage: ReadImage,
): Promise<Omit<DoorChat, "maxTokens" | "native">> {
  const call = defined({
    ...toolsOf(body),
    ...formatOf(fieldOf(body, "response_format")),
    parallelToolCalls: optionalBoolean(fieldOf(body, "parallel_tool_calls")),
    temperature: optionalNumber(fieldOf(body, "temperature"), { from: 0, to: 2 }),
    topP: optionalNumber(fieldOf(body, "top_p"), { from: 0, to: 1 }),
    seed: optionalNumber(fieldOf(body, "seed"), { from: Number.MIN_SAFE_INTEGER, whole: true }),
    stop: stopsOf(fieldOf(body, "stop")),
    reasoningEffort: optionalOneOf(fieldOf(body, "reasoning_effort"), efforts),
  });
  return { ...call, messages: await readMessages(messages, readImage) };
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function stopsOf(field: Field): string[] | undefined {
  const given = typeof field.value === "string" ? [field.value] : optionalList(field);
  const stops = given?.map((value, index) => optionalText({ value, loc: [...field.loc, index] }) ?? "");
  return stops?.filter((stop) => stop !== "");
}

function formatOf(field: Field): Pick<DoorChat, "responseFormat" | "responseSchema"> {
  const format = optionalRecord(field);
  if (!format) return {};
  const type = optionalOneOf(fieldOf(format, "type", field.loc), ["text", "json_object", "json_schema"]) ?? "text";
  if (type === "text") return {};
  if (type === "json_object") return { responseFormat: "json" };
  const named = fieldOf(format, "json_schema", field.loc);
  return { responseSchema: requiredRecord(fieldOf(requiredRecord(named), "schema", named.loc)) };
}

type Tools = Pick<DoorChat, "tools" | "toolChoice">;

/** Tools of other types are left out: the model could not call them. */
function toolsOf(body: Body): Tools {
  const field = fieldOf(body, "tools");
  const tools = (optionalList(field) ?? []).flatMap((value, index): ChatTool[] => {
    const loc = [...field.loc, index];
    const tool = requiredRecord({ value, loc });
    return tool.type === "function" ? [toolOf(fieldOf(tool, "function", loc))] : [];
  });
  // The deprecated form.
  const functions = fieldOf(body, "functions");
  const older = (optionalList(functions) ?? []).map((value, index) =>
    toolOf({ value, loc: [...functions.loc, index] }),
  );
  const all = [...tools, ...older];
  const chosen = choiceOf(body, all);
  return all.length === 0 ? {} : { tools: all, ...chosen };
}

function toolOf(field: Field): ChatTool {
  const given = requiredRecord(field);
  return {
    name: requiredText(fieldOf(given, "name", field.loc)),
    description: optionalText(fieldOf(given, "description", field.loc)) ?? "",
    parameters: optionalRecord(fieldOf(given, "parameters", field.loc)) ?? { type: "object", properties: {} },
  };
}

const choices = ["auto", "required", "none"] as const;

function choiceOf(body: Body, tools: readonly ChatTool[]): Tools {
  const newer = fieldOf(body, "tool_choice");
  const field = newer.value === undefined ? fieldOf(body, "function_call") : newer;
  if (field.value === undefined) return {};
  if (typeof field.value === "string") {
    const toolChoice = optionalOneOf(field, choices);
    if (toolChoice === "required" && tools.length === 0) throw withoutTools(field);
    return toolChoice ? { toolChoice } : {};
  }
  const choice = requiredRecord(field);
  if (choice.type === "allowed_tools") return allowedOf(fieldOf(choice, "allowed_tools", field.loc), tools);
  const named =
    newer.value === undefined ? field : fieldOf(choice, choice.type === "custom" ? "custom" : "function", field.loc);
  const name = fieldOf(requiredRecord(named), "name", named.loc);
  return { toolChoice: { name: known(name, tools) } };
}

function allowedOf(field: Field, tools: readonly ChatTool[]): Tools {
  const allowed = requiredRecord(field);
  const list = fieldOf(allowed, "tools", field.loc);
  const names = (optionalList(list) ?? []).flatMap((value, index) => {
    const loc = [...list.loc, index];
    const tool = requiredRecord({ value, loc });
    if (tool.type !== "function") return [];
    const named = fieldOf(tool, "function", loc);
    return [known(fieldOf(requiredRecord(named), "name", named.loc), tools)];
  });
  const toolChoice = optionalOneOf(fieldOf(allowed, "mode", field.loc), ["auto", "required"]) ?? "auto";
  if (toolChoice === "required" && names.length === 0) throw withoutTools(field);
  return names.length === 0
    ? { toolChoice: "none" }
    : { tools: tools.filter(({ name }) => names.includes(name)), toolChoice };
}

function known(field: Field, tools: readonly ChatTool[]): string {
  const name = requiredText(field);
  if (tools.some((tool) => tool.name === name)) return name;
  throw invalid(field, "No function of this name is in tools.");
}

function withoutTools({ loc }: Field) {
  return invalid({ loc }, "A tool call is required, but the request has no tools of type function.");
}
