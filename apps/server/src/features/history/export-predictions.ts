import type { Scope } from "../accounts/index.ts";
import { exportUsage, type UsageRow } from "../billing/index.ts";
import type { HistoryDeps } from "./context.ts";
import { describeRows } from "./describe-rows.ts";
import { findRow, foundOfUsage, rowOfUsage } from "./find-row.ts";
import { selectLive } from "./live-store.ts";
import type { ShownPrediction } from "./prediction.ts";
import { linksAndWebhook, showFound } from "./read-prediction.ts";

const wholeRange = { from: undefined, to: undefined };
const describedAtOnce = 100;
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
    // Sales of agents have no prediction; live predictions may have ended meanwhile.
    const rest = portion.filter(
      ({ modelName, requestId }) => !modelName.startsWith("agents/") && !listed.has(requestId),
    );
    for (let at = 0; at < rest.length; at += describedAtOnce) {
      yield* showEnded(deps, scope, rest.slice(at, at + describedAtOnce), base);
    }
  }
}

/** Names and previews are read for all, contents one by one. */
async function* showEnded(
  deps: HistoryDeps,
  scope: Scope,
  usages: readonly UsageRow[],
  base: string,
): AsyncGenerator<ShownPrediction> {
  const described = await describeRows(deps, scope, usages.map(rowOfUsage), base);
  for (const [n, usage] of usages.entries()) {
    const found = await foundOfUsage(deps, scope, usage);
    const row = described[n];
    if (!row) continue;
    const added = await linksAndWebhook(deps, scope, found, base);
    yield { ...row, endedAt: found.row.endedAt, ...found.content, ...added };
  }
}
