import type { ChatTool, DoorChat, ReasoningEffort } from "../../features/predictions/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  fieldOf,
  invalid,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalOneOf,
  optionalRecord,
  optionalText,
  requiredRecord,
  requiredText,
} from "../doors/body-fields.ts";

type Body = Record<string, unknown>;
type Options = Omit<DoorChat, "messages" | "maxTokens" | "native">;

/**
 * The fields beside the messages, for backends of other protocols. `top_k`, `service_tier` and marks for caching have no
 * counterpart and are ignored.
 */
export function readOptions(body: Body): Options {
  const temperature = optionalNumber(fieldOf(body, "temperature"), { from: 0, to: 2 });
  const topP = optionalNumber(fieldOf(body, "top_p"), { from: 0, to: 1 });
  const stop = stopOf(body);
  const reasoningEffort = effortOf(body);
  const responseSchema = schemaOf(body);
  return {
    ...toolsOf(body),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop.length > 0 && { stop }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(responseSchema !== undefined && { responseSchema }),
  };
}

function stopOf(body: Body): string[] {
  const field = fieldOf(body, "stop_sequences");
  const texts = (optionalList(field) ?? []).map((value, index) => optionalText({ value, loc: [...field.loc, index] }));
  return texts.filter((text) => text !== undefined && text !== "") as string[];
}

function toolsOf(body: Body): Pick<Options, "tools" | "toolChoice" | "parallelToolCalls"> {
  const field = fieldOf(body, "tools");
  const tools = (optionalList(field) ?? []).flatMap((value, index) => {
    const loc = [...field.loc, index];
    return toolOf(requiredRecord({ value, loc }), loc);
  });
  const choice = fieldOf(body, "tool_choice");
  const { type, ...given } = optionalRecord(choice) ?? {};
  const kind = optionalOneOf({ value: type, loc: [...choice.loc, "type"] }, ["auto", "any", "tool", "none"]);
  const name = fieldOf(given, "name", choice.loc);
  if (kind === "tool" && !tools.some((tool) => tool.name === requiredText(name))) {
    throw invalid(name, "The tools have no tool of this name that this model can call.");
  }
  if (tools.length === 0) return {};
  const isSingle = optionalBoolean(fieldOf(given, "disable_parallel_tool_use", choice.loc));
  return {
    tools,
    ...(kind !== undefined && { toolChoice: kind === "tool" ? { name: requiredText(name) } : choices[kind] }),
    ...(isSingle && { parallelToolCalls: false }),
  };
}

const choices = { auto: "auto", any: "required", none: "none" } as const;

/** Tools of other types are run by Anthropic, or are known only to its models. */
function toolOf(tool: Body, loc: readonly (string | number)[]): ChatTool[] {
  if (tool.type !== undefined && tool.type !== null && tool.type !== "custom") return [];
  return [
    {
      name: requiredText(fieldOf(tool, "name", loc)),
      description: optionalText(fieldOf(tool, "description", loc)) ?? "",
      parameters: requiredRecord(fieldOf(tool, "input_schema", loc)),
    },
  ];
}

const efforts: Readonly<Record<string, ReasoningEffort>> = {
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "xhigh",
};
/** Thinking budgets up to these tokens, by effort. */
const mostOfLow = 4_096;
const mostOfMedium = 16_384;

function effortOf(body: Body): ReasoningEffort | undefined {
  const thinking = optionalRecord(fieldOf(body, "thinking"));
  if (thinking?.type === "disabled") return "none";
  const config = optionalRecord(fieldOf(body, "output_config"));
  const asked = optionalText(fieldOf(config ?? {}, "effort", ["body", "output_config"]));
  // Levels of later versions are left to the model.
  if (asked !== undefined) return efforts[asked];
  if (thinking?.type !== "enabled") return undefined;
  const budget = optionalNumber(fieldOf(thinking, "budget_tokens", ["body", "thinking"]), { from: 1 });
  if (budget === undefined) return undefined;
  return budget <= mostOfLow ? "low" : budget <= mostOfMedium ? "medium" : "high";
}

/** Which thoughts the client sees: all, none, or blocks without their text. */
export type ShownThoughts = "all" | "none" | "omitted";

export function shownThoughts({ thinking }: Body): ShownThoughts {
  if (!isRecord(thinking)) return "all";
  if (thinking.type === "disabled") return "none";
  return thinking.display === "omitted" ? "omitted" : "all";
}

function schemaOf(body: Body): Body | undefined {
  const config = fieldOf(body, "output_config");
  const current = fieldOf(optionalRecord(config) ?? {}, "format", config.loc);
  // The name of the field in earlier versions.
  const format = current.value === undefined ? fieldOf(body, "output_format") : current;
  const given = optionalRecord(format);
  if (!given) return undefined;
  optionalOneOf(fieldOf(given, "type", format.loc), ["json_schema"]);
  return requiredRecord(fieldOf(given, "schema", format.loc));
}
