import type { ToolList, ToolServerTarget } from "../../engines/tools/tools.ts";
import type { Hiding } from "./hide.rules.ts";
import { hideInTools } from "./hide-in-tools.rules.ts";

const shown = new WeakMap<ToolList, { credential: string | undefined; list: ToolList }>();

/**
 * A list of tools as it may be shown. The engine gives the same list to all who ask for some seconds; looking through one
 * of some megabytes takes a while, so that it is done once for each.
 */
export function shownTools(list: ToolList, { header }: ToolServerTarget, hiding: Hiding): ToolList {
  const known = shown.get(list);
  if (known && known.credential === header?.value) return known.list;
  const hidden = hideInTools(list, hiding);
  shown.set(list, { credential: header?.value, list: hidden });
  return hidden;
}
