import type { ToolList, ToolServerTarget } from "../../engines/tools/tools.ts";
import type { Hiding } from "./hide.rules.ts";
import { hideInTools } from "./hide-in-tools.rules.ts";

const shown = new WeakMap<ToolList, { credential: string | undefined; list: ToolList }>();

/**
 * A list of tools as it may be shown. The engine gives the same list to all who ask for some seconds; looking through one
 * of some megabytes takes a while, so that it is done once for each.
 */
export function shownTools(list: ToolList, target: Pick<ToolServerTarget, "header">, hiding: Hiding): ToolList {
  const credential = target.header?.value;
  const known = shown.get(list);
  if (known && known.credential === credential) return known.list;
  const hidden = hideInTools(list, target, hiding);
  shown.set(list, { credential, list: hidden });
  return hidden;
}
