import {
  descriptionMargin,
  longestDescription,
  type ServerTool,
  type ToolList,
  type ToolServerTarget,
} from "../../engines/tools/tools.ts";
import type { Hiding } from "./hide.rules.ts";

const tellingName = "Its name holds the credential, or a part of it";

/**
 * Tools without the credential, which a server may have put into anything that it says of them. A tool is called by its
 * name, so that one whose name holds it cannot be used.
 */
export function hideInTools(
  { tools, unusable, isCut }: ToolList,
  target: Pick<ToolServerTarget, "header">,
  hiding: Hiding,
): ToolList {
  const margin = descriptionMargin(target);
  const isClean = ({ name }: { name: string }) => hiding.mask(name) === name;
  const telling = tools.filter((tool) => !isClean(tool)).map(({ name }) => ({ name, reason: tellingName }));
  return {
    tools: tools.filter(isClean).map((tool) => hideInTool(tool, margin, hiding)),
    unusable: [...unusable, ...telling].map(({ name, reason }) => ({ name: hiding.mask(name), reason })),
    isCut,
  };
}

/** A schema may have many thousand texts: they are looked at one by one only where there is something to hide. */
function hideInTool(tool: ServerTool, margin: number, { mask, isIn }: Hiding): ServerTool {
  const description = hideInDescription(tool.description, margin, mask);
  const isTelling = isIn(JSON.stringify(tool.parameters));
  return { ...tool, description, parameters: isTelling ? hideInObject(tool.parameters, mask) : tool.parameters };
}

/** The end of one that was cut may be the beginning of the credential, which nobody would know it by. */
function hideInDescription(description: string, margin: number, mask: (text: string) => string): string {
  const wasCut = description.length === longestDescription + margin;
  const shown = mask(description);
  return shown.slice(0, Math.min(longestDescription, shown.length - (wasCut ? margin : 0))).toWellFormed();
}

/** The same object where nothing is hidden in it: what was made of it once can be used again. */
function hideInObject(object: Record<string, unknown>, mask: (text: string) => string): Record<string, unknown> {
  const entries = Object.entries(object);
  const shown = entries.map(([key, value]): [string, unknown] => [mask(key), hideInValue(value, mask)]);
  const isSame = shown.every(([key, value], at) => key === entries[at]?.[0] && value === entries[at]?.[1]);
  return isSame ? object : Object.fromEntries(shown);
}

function hideInValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) {
    const shown = value.map((one) => hideInValue(one, mask));
    return shown.every((one, at) => one === value[at]) ? value : shown;
  }
  return typeof value === "object" && value !== null ? hideInObject(value as Record<string, unknown>, mask) : value;
}
