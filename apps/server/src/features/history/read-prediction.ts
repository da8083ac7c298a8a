import { fault } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import type { HistoryDeps } from "./context.ts";
import { describeRows } from "./describe-rows.ts";
import { findRow } from "./find-row.ts";
import type { ShownPrediction } from "./prediction.ts";
import { findWebhook } from "./store.ts";

export async function readPrediction(
  deps: HistoryDeps,
  scope: Scope,
  id: string,
  base: string,
): Promise<ShownPrediction> {
  const found = await findRow(deps, scope, id);
  if (!found) throw fault("not_found", "Prediction not found");
  const { output } = found.content;
  const [[listed], files, webhook] = await Promise.all([
    describeRows(deps, scope, [found.row], base),
    output ? deps.linksOf(id, output, base) : {},
    found.row.route === "async" && found.row.status !== null ? findWebhook(deps.database.sql, scope.userId, id) : null,
  ]);
  if (!listed) throw fault("not_found", "Prediction not found");
  return { ...listed, ...found.content, files, webhook };
}
