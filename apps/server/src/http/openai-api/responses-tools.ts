import type { ChatTool, DoorChat } from "../../features/predictions/index.ts";
import { customInput } from "../../features/responses/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  type Field,
  fieldOf,
  optionalList,
  optionalRecord,
  optionalText,
  requiredRecord,
  requiredText,
} from "../doors/body-fields.ts";

type Tools = Pick<DoorChat, "tools" | "toolChoice">;

/** Functions and custom tools. Tools that the vendor runs itself are left out: the model could not call them. */
export function readTools(body: Readonly<Record<string, unknown>>): Tools {
  const field = fieldOf(body, "tools");
  const tools = (optionalList(field) ?? []).flatMap((value, index): ChatTool[] => {
    const loc = [...field.loc, index];
    const tool = requiredRecord({ value, loc });
    const read = readers.get(tool.type);
    return read ? [read({ value: tool, loc })] : [];
  });
  return tools.length === 0 ? {} : { tools, ...choiceOf(fieldOf(body, "tool_choice"), tools) };
}

function functionTool(field: Field): ChatTool {
  const tool = requiredRecord(field);
  return {
    ...namedTool(tool, field),
    parameters: optionalRecord(fieldOf(tool, "parameters", field.loc)) ?? { type: "object", properties: {} },
  };
}

/** Takes text instead of JSON. Other protocols know only functions, so the text becomes an argument. */
function customTool(field: Field): ChatTool {
  const tool = requiredRecord(field);
  const { name, description } = namedTool(tool, field);
  const format = isRecord(tool.format) && typeof tool.format.definition === "string" ? tool.format.definition : "";
  return {
    name,
    description: format === "" ? description : `${description}\n\nThe input must match this grammar:\n${format}`,
    parameters: {
      type: "object",
      properties: { [customInput]: { type: "string" } },
      required: [customInput],
      additionalProperties: false,
    },
  };
}

const readers: ReadonlyMap<unknown, (field: Field) => ChatTool> = new Map([
  ["function", functionTool],
  ["custom", customTool],
]);

function namedTool(tool: Record<string, unknown>, { loc }: Field): Pick<ChatTool, "name" | "description"> {
  return {
    name: requiredText(fieldOf(tool, "name", loc)),
    description: optionalText(fieldOf(tool, "description", loc)) ?? "",
  };
}

const modes = ["auto", "required", "none"] as const;

/** A choice of a tool that was left out is ignored. */
function choiceOf({ value: choice }: Field, tools: readonly ChatTool[]): Tools {
  const mode = modes.find((one) => one === choice);
  if (mode !== undefined) return { toolChoice: mode };
  if (!isRecord(choice)) return {};
  const isKnown = (name: unknown): name is string => tools.some((tool) => tool.name === name);
  if (choice.type === "allowed_tools") {
    const listed: unknown[] = Array.isArray(choice.tools) ? choice.tools : [];
    const names = new Set(listed.flatMap((tool) => (isRecord(tool) && isKnown(tool.name) ? [tool.name] : [])));
    if (names.size === 0) return { toolChoice: "none" };
    return {
      tools: tools.filter(({ name }) => names.has(name)),
      toolChoice: choice.mode === "required" ? "required" : "auto",
    };
  }
  const isNamed = choice.type === "function" || choice.type === "custom";
  return isNamed && isKnown(choice.name) ? { toolChoice: { name: choice.name } } : {};
}
