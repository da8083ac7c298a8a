import { fault } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import type { HistoryDeps } from "./context.ts";
import { describeRows } from "./describe-rows.ts";
import { type Found, findRow } from "./find-row.ts";
import type { ShownPrediction } from "./prediction.ts";
import { findWebhook } from "./store.ts";

export async function readPrediction(
  deps: HistoryDeps,
  scope: Scope,
  id: string,
  base: string,
): Promise<ShownPrediction> {
  const found = await findRow(deps, scope, id);
  const shown = found && (await showFound(deps, scope, found, base));
  if (!shown) throw fault("not_found", "Prediction not found");
  return shown;
}

/** Adds names, previews, links and the webhook. */
export async function showFound(
  deps: HistoryDeps,
  scope: Scope,
  found: Found,
  base: string,
): Promise<ShownPrediction | undefined> {
  const { id } = found.row;
  const { output } = found.content;
  const [[listed], files, webhook] = await Promise.all([
    describeRows(deps, scope, [found.row], base),
    output ? deps.linksOf(id, output, base) : {},
    found.row.route === "async" && found.row.status !== null ? findWebhook(deps.database.sql, scope.userId, id) : null,
  ]);
  return listed && { ...listed, ...found.content, files, webhook };
}
