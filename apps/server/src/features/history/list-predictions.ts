import { isId, type PredictionStatus } from "@gantry/wire";
import type { Scope } from "../accounts/index.ts";
import { listCalls, type TimeRange, type UsageFilter } from "../billing/index.ts";
import type { HistoryDeps } from "./context.ts";
import { describeRows } from "./describe-rows.ts";
import { findRow, rowOfUsage } from "./find-row.ts";
import { selectLive, selectLiveRows } from "./live-store.ts";
import { type ListedPrediction, type PredictionFilter, type PredictionRow, statusOf } from "./prediction.ts";

export interface ListRequest {
  filter: PredictionFilter;
  range: TimeRange;
  page: { limit: number; offset: number };
  /** Base of links. */
  base: string;
}

export interface PredictionList {
  entries: ListedPrediction[];
  total: number;
  /** Set if a filter did not search the whole range. */
  searchedFrom: string | null;
}

type LiveStatus = Extract<PredictionStatus, "waiting" | "running">;
const isLive = (status: PredictionStatus | undefined): status is LiveStatus =>
  status === "waiting" || status === "running";

/** Live predictions, then those that have ended, newest first. */
export async function listPredictions(
  deps: HistoryDeps,
  scope: Scope,
  { filter, range, page, base }: ListRequest,
): Promise<PredictionList> {
  const { q, status } = filter;
  if (q !== undefined && isId("prediction", q)) return listOne(deps, scope, { filter, range, page, base }, q);
  const { sql } = deps.database;
  const isOver = status !== undefined && !isLive(status);
  const live = isOver ? { ids: [], total: 0 } : await selectLive(sql, scope, range, filter, page);
  const rest = { limit: page.limit - live.ids.length, offset: Math.max(0, page.offset - live.total) };
  const ended = isLive(status)
    ? { entries: [], total: 0, searchedFrom: null }
    : await listCalls(deps.database, scope, range, usageFilterOf(filter, status), rest);
  const rows = new Map<string, PredictionRow & { preview?: string | null }>();
  for (const row of await selectLiveRows(sql, scope, live.ids)) {
    const { bounds, input: _none, ...figures } = row;
    rows.set(row.id, { ...figures, preview: bounds?.request?.preview ?? null });
  }
  const found = live.ids.flatMap((id) => rows.get(id) ?? []);
  // A prediction may end between the two queries, and is then listed as live.
  const listed = ended.entries.filter(({ requestId }) => !rows.has(requestId)).map(rowOfUsage);
  return {
    entries: await describeRows(deps, scope, [...found, ...listed], base),
    total: live.total + ended.total,
    searchedFrom: ended.searchedFrom,
  };
}

function usageFilterOf(filter: PredictionFilter, status: UsageFilter["status"]): UsageFilter {
  const { model: modelName, mode: route, keyId, agentId, runId, q: idPart } = filter;
  return { modelName, status, route, keyId, agentId, runId, idPart };
}

async function listOne(
  deps: HistoryDeps,
  scope: Scope,
  { filter, range, page, base }: ListRequest,
  id: string,
): Promise<PredictionList> {
  const found = await findRow(deps, scope, id);
  const entries = found ? await describeRows(deps, scope, [found.row], base) : [];
  const matching = entries.filter((entry) => matches(entry, filter) && isWithin(entry, range));
  return { entries: matching.slice(page.offset, page.offset + page.limit), total: matching.length, searchedFrom: null };
}

function matches(entry: ListedPrediction, { model, status, keyId, mode, agentId, runId }: PredictionFilter): boolean {
  const pairs = [
    [model, entry.modelName],
    [status, statusOf(entry)],
    [keyId, entry.keyId],
    [mode, entry.route],
    [agentId, entry.agent?.id],
    [runId, entry.runId],
  ];
  return pairs.every(([wanted, own]) => wanted === undefined || wanted === own);
}

function isWithin({ endedAt, createdAt }: ListedPrediction, { from, to }: TimeRange): boolean {
  // Moments of this form sort as texts.
  const at = endedAt ?? createdAt.toISOString().replace("Z", "000Z");
  return (from === undefined || at >= from) && (to === undefined || at <= to);
}
