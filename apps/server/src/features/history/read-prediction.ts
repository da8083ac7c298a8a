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
  const [[listed], added] = await Promise.all([
    describeRows(deps, scope, [found.row], base),
    linksAndWebhook(deps, scope, found, base),
  ]);
  return listed && { ...listed, ...found.content, ...added };
}

export async function linksAndWebhook(
  deps: HistoryDeps,
  { userId }: Scope,
  { row: { id, route, status }, content: { output } }: Found,
  base: string,
): Promise<Pick<ShownPrediction, "files" | "webhook">> {
  const [files, webhook] = await Promise.all([
    output ? deps.linksOf(id, output, base) : {},
    route === "async" && status !== null ? findWebhook(deps.database.sql, userId, id) : null,
  ]);
  return { files, webhook };
}
