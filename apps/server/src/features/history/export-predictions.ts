import type { Scope } from "../accounts/index.ts";
import { exportUsage } from "../billing/index.ts";
import type { HistoryDeps } from "./context.ts";
import { findRow, foundOfUsage } from "./find-row.ts";
import { selectLive } from "./live-store.ts";
import type { ShownPrediction } from "./prediction.ts";
import { showFound } from "./read-prediction.ts";

const wholeRange = { from: undefined, to: undefined };
const mostLive = 20_000;

/**
 * Everything that is known of the predictions of a user, live ones first. Inputs and outputs can be large, so they are read
 * one by one.
 */
export async function* exportPredictions(
  deps: HistoryDeps,
  scope: Scope,
  base: string,
): AsyncGenerator<ShownPrediction> {
  const { ids } = await selectLive(deps.database.sql, scope, wholeRange, {}, { limit: mostLive, offset: 0 });
  for (const id of ids) {
    const found = await findRow(deps, scope, id);
    const shown = found && (await showFound(deps, scope, found, base));
    if (shown) yield shown;
  }
  const listed = new Set(ids);
  for await (const portion of await exportUsage(deps.database, scope, wholeRange)) {
    for (const usage of portion) {
      // Sales of agents have no prediction; live predictions may have ended meanwhile.
      if (usage.modelName.startsWith("agents/") || listed.has(usage.requestId)) continue;
      const shown = await showFound(deps, scope, await foundOfUsage(deps, scope, usage), base);
      if (shown) yield shown;
    }
  }
}
