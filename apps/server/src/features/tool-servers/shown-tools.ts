import { setImmediate } from "node:timers/promises";
import type { ToolList, ToolServerTarget } from "../../engines/tools/tools.ts";
import type { Hiding } from "./hide.rules.ts";
import { hideInTools } from "./hide-in-tools.rules.ts";

type SignedIn = Pick<ToolServerTarget, "header">;

/** Others have their turn after so long. */
const turnMs = 10;

const shown = new WeakMap<ToolList, { credential: string | undefined; list: Promise<ToolList> }>();

/**
 * A list of tools as it may be shown. The engine gives the same list to all who ask for some seconds; looking through one
 * of some megabytes takes a while, so that it is done once for each, and in pieces.
 */
export function shownTools(list: ToolList, target: SignedIn, hiding: Hiding): Promise<ToolList> {
  const credential = target.header?.value;
  const known = shown.get(list);
  if (known && known.credential === credential) return known.list;
  const hidden = hideInTurns(list, target, hiding);
  shown.set(list, { credential, list: hidden });
  return hidden;
}

async function hideInTurns(list: ToolList, target: SignedIn, hiding: Hiding): Promise<ToolList> {
  const hidden = hideInTools({ ...list, tools: [] }, target, hiding);
  let since = performance.now();
  for (const tool of list.tools) {
    const { tools, unusable } = hideInTools({ tools: [tool], unusable: [], isCut: list.isCut }, target, hiding);
    hidden.tools.push(...tools);
    hidden.unusable.push(...unusable);
    if (performance.now() - since < turnMs) continue;
    await setImmediate();
    since = performance.now();
  }
  return hidden;
}
