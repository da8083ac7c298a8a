import { setTimeout as sleep } from "node:timers/promises";
import type { GantryClient, RunEvent, RunRecord } from "@gantry/sdk";

type Shown = (event: RunEvent, agentName: string, level: number) => void;

/** More sub-agents at a time are not readable, and each needs a connection. */
const mostAtOnce = 16;
/** A run is listed a moment after the call that starts it. */
const secondLookMs = 300;
const lastEventsMs = 2_000;

const builtinTools = [
  ...["http_request", "web_fetch", "web_search", "run_model", "run_javascript", "update_memory"],
  ...["drive_list", "drive_read", "drive_write", "drive_delete", "drive_search"],
];

/** Finds the sub-agents of a run by its tool calls, and follows them, at all levels. */
export function createChildren(client: GantryClient, signal: AbortSignal, show: Shown) {
  const known = new Set<string>();
  /** Runs that have sub-agents. */
  const parents = new Set<string>();
  /** Tools that are not sub-agents, or turned out not to be. */
  const plainTools = new Set(builtinTools);
  const active = new Set<Promise<void>>();

  const isPlain = (tool: string): boolean => plainTools.has(tool) || /^idp_|__/.test(tool);

  /** To be called for each event of a run. */
  function see(runId: string, level: number, event: RunEvent): void {
    if (event.type !== "tool_call" || isPlain(event.data.tool) || active.size >= mostAtOnce) return;
    // What is shown of sub-agents is an addition: without it the run is still followed.
    const work = look(runId, level, event.data.tool)
      .catch(() => undefined)
      .finally(() => active.delete(work));
    active.add(work);
  }

  async function look(parentId: string, level: number, tool: string): Promise<void> {
    let found = await newChildren(parentId);
    if (found.length === 0) {
      await sleep(secondLookMs, undefined, { signal });
      found = await newChildren(parentId);
    }
    if (!parents.has(parentId)) plainTools.add(tool);
    await Promise.all(found.map((child) => follow(child, level + 1)));
  }

  async function newChildren(parent_run_id: string): Promise<RunRecord[]> {
    const { runs } = await client.runs.list({ parent_run_id, limit: 100, signal });
    const found = runs.filter(({ id }) => !known.has(id)).slice(0, mostAtOnce);
    for (const { id } of found) known.add(id);
    if (runs.length > 0) parents.add(parent_run_id);
    return found.reverse();
  }

  async function follow({ id, agent_name }: RunRecord, level: number): Promise<void> {
    for await (const event of client.runs.events(id, { signal })) {
      // The run above has the confirmations of its sub-agents too.
      if (event.type.startsWith("confirmation_")) continue;
      show(event, agent_name, level);
      see(id, level, event);
    }
  }

  return {
    see,
    /** Sub-agents have ended with their run: their last events are shown in a moment. */
    async settled(): Promise<void> {
      await Promise.race([Promise.allSettled(active), sleep(lastEventsMs, undefined, { ref: false })]);
    },
  };
}
