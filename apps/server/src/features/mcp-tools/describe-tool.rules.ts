import type { Pricing, ToolRecord } from "@gantry/wire";
import { foreignSchema, foreignText } from "../../kernel/foreign-text.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import { inputSchemaOf } from "./input-schema.rules.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { agentToolName, modelToolName } from "./tool-names.rules.ts";

/** Every description is a part of what the client's model reads with each question. */
const longestText = 1000;

const units: Readonly<Record<keyof Pricing, string>> = {
  per_request: "a call",
  per_second: "a second of running",
  per_million_input_tokens: "a million input tokens",
  per_million_cached_tokens: "a million cached input tokens",
  per_million_cache_write_tokens: "a million input tokens written to the cache",
  per_million_output_tokens: "a million output tokens",
  per_output: "an output file",
};

/** What another user wrote of a model is marked as theirs. */
export function describeModel(model: Model, caller: Pick<Caller, "userId">): OfferedTool {
  const { owner, endpointId } = model;
  const isTheirs = model.ownerId !== caller.userId && !model.isBuiltIn;
  const { title, description, pricing, kind, backend } = model.manifest;
  const what = kind === "other" ? "Runs the model" : `Runs the ${kind} model`;
  const input = inputSchemaOf(model.manifest);
  return {
    name: modelToolName(model),
    title: isTheirs ? endpointId : title,
    description: sentences([
      `${what} ${endpointId}.`,
      isTheirs && description.trim() !== "" ? foreignText(owner, description) : cut(description),
      priceOf(pricing),
    ]),
    inputSchema: isTheirs ? { ...foreignSchema(owner, input), type: "object" } : input,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: backend.type !== "builtin" },
  };
}

/** One of the caller's own agents: its goal is no secret here. */
/** Without a goal for a key limited to models, which sees agents as cards. */
export function describeAgent(
  slug: string,
  { name, goal }: { name: string; goal?: string },
  inputSchema: Record<string, unknown>,
): OfferedTool {
  // Whoever runs an own agent does not pay its price.
  const price = "It pays for the models that it calls.";
  return {
    name: agentToolName(slug),
    title: name,
    description: sentences([
      `Runs your agent ${name} and waits for its result.`,
      goal ? `Its goal: ${cut(goal)}` : "",
      price,
    ]),
    inputSchema: { ...inputSchema, type: "object" },
    annotations: { readOnlyHint: false, openWorldHint: true },
  };
}

export function describeAction({ id, description, parameters }: ToolRecord): OfferedTool {
  return {
    name: id,
    title: id.replace(/^idp_/, "Identity: ").replaceAll("_", " "),
    description: cut(description),
    inputSchema: { ...parameters, type: "object" },
    annotations: { readOnlyHint: true, openWorldHint: true },
  };
}

export function priceOf(pricing: Pricing): string {
  const prices = (Object.keys(units) as (keyof Pricing)[]).flatMap((name) => {
    const dollars = pricing[name] ?? 0;
    return dollars > 0 ? [`${dollars} ${units[name]}`] : [];
  });
  return prices.length === 0 ? "Free of charge." : `Price in US dollars: ${prices.join(", ")}.`;
}

function cut(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= longestText ? trimmed : `${trimmed.slice(0, longestText).toWellFormed()}…`;
}

function sentences(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}
