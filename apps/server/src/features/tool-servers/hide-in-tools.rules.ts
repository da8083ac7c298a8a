import type { ServerTool, ToolList } from "../../engines/tools/tools.ts";
import type { Hiding } from "./hide.rules.ts";

/**
 * Tools without the credential, which a server may have put into anything that it says of them. A tool is called by its
 * name, so that one whose name holds it cannot be shown at all.
 */
export function hideInTools({ tools, unusable, isCut }: ToolList, hiding: Hiding): ToolList {
  const isClean = ({ name }: { name: string }) => hiding.mask(name) === name;
  return {
    tools: tools.filter(isClean).map((tool) => hideInTool(tool, hiding)),
    unusable: unusable.filter(isClean),
    isCut,
  };
}

/** A schema may have many thousand texts: they are looked at one by one only where there is something to hide. */
function hideInTool(tool: ServerTool, { mask, isIn }: Hiding): ServerTool {
  const description = mask(tool.description);
  const isTelling = isIn(JSON.stringify(tool.parameters));
  return { ...tool, description, parameters: isTelling ? hideInObject(tool.parameters, mask) : tool.parameters };
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
