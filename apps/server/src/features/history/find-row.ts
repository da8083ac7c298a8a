import type { InputState } from "@gantry/wire";
import { timeOfId } from "../../kernel/first-id-at.ts";
import type { Scope } from "../accounts/index.ts";
import { findCall, type UsageRow } from "../billing/index.ts";
import { describedInput, storedFault, transcriptText } from "../predictions/index.ts";
import type { HistoryDeps } from "./context.ts";
import { type LiveRow, selectLiveRows } from "./live-store.ts";
import type { PredictionRow, ShownPrediction } from "./prediction.ts";
import { type DeletedMark, type EndedRow, findDeletedMark, findEndedRow } from "./store.ts";

type Content = Pick<
  ShownPrediction,
  "requestId" | "traceId" | "input" | "inputState" | "isTruncated" | "output" | "error" | "text" | "streamDetails"
>;

const nothing: Content = {
  requestId: null,
  traceId: null,
  input: null,
  inputState: "not_kept",
  isTruncated: false,
  output: null,
  error: null,
  text: null,
  streamDetails: null,
};

export interface Found {
  row: PredictionRow & { preview?: string | null };
  content: Content;
}

/** A prediction in any state: live, ended, or known by its usage alone. */
export async function findRow(deps: HistoryDeps, scope: Scope, id: string): Promise<Found | undefined> {
  const { sql } = deps.database;
  const [live] = await selectLiveRows(sql, scope, [id], true);
  if (live) return liveFound(live);
  const ended = await findEndedRow(sql, scope, id);
  if (ended) return endedFound(ended);
  const [mark, usage] = await Promise.all([findDeletedMark(sql, scope, id), findCall(sql, scope, id, timeOfId(id))]);
  return usage && usageFound(usage, mark);
}

/** The same for a prediction that has ended and whose usage is known. */
export async function foundOfUsage(deps: HistoryDeps, scope: Scope, usage: UsageRow): Promise<Found> {
  const { sql } = deps.database;
  const ended = await findEndedRow(sql, scope, usage.requestId);
  return ended ? endedFound(ended) : usageFound(usage, await findDeletedMark(sql, scope, usage.requestId));
}

function usageFound(usage: UsageRow, mark: DeletedMark | undefined): Found {
  const inputState: InputState = mark ? "deleted" : usage.route === "agent" ? "not_kept" : "expired";
  return {
    row: { ...rowOfUsage(usage), ...(mark && { createdAt: mark.createdAt, startedAt: mark.startedAt }) },
    content: { ...nothing, inputState, requestId: mark?.requestId ?? null },
  };
}

function liveFound({ input, bounds, ...row }: LiveRow): Found {
  if (row.route === "agent") return { row, content: nothing };
  const { request, kept } = bounds ?? {};
  if (row.route !== "async") return { row, content: { ...nothing, inputState: "pending" } };
  const isKept = request?.keeps === true;
  const content: Content = {
    ...nothing,
    requestId: request?.id ?? null,
    traceId: request?.trace ?? null,
    input: isKept && input ? (kept ?? describedInput(row.id, input)) : null,
    inputState: isKept ? "kept" : "not_kept",
    isTruncated: request?.truncated === true,
  };
  return { row: { ...row, preview: request?.preview ?? null }, content };
}

/** Model calls of runs contain values that the events of the run hide. */
function endedFound({ input, request, output, error, said, streamDetails, ...row }: EndedRow): Found {
  if (row.route === "agent") return { row, content: { ...nothing, error: publicIssues(error) } };
  const content: Content = {
    requestId: request?.id ?? null,
    traceId: request?.trace ?? null,
    input: input && describedInput(row.id, input),
    inputState: request?.deleted ? "deleted" : input ? "kept" : "not_kept",
    isTruncated: request?.truncated === true,
    output: request?.deleted ? null : output,
    error: storedFault(error)?.issues ?? null,
    text: said && transcriptText(said),
    streamDetails,
  };
  return { row, content };
}

function publicIssues(error: EndedRow["error"]): Content["error"] {
  const type = storedFault(error)?.type;
  return type === undefined ? null : [{ type, msg: "The model call failed. The run shows why.", loc: [] }];
}

/** Its creation is known by its id, until the result adds the exact time. */
export function rowOfUsage({ requestId: id, createdAt: endedAt, route, ...usage }: UsageRow): PredictionRow {
  return {
    ...usage,
    id,
    route: route as PredictionRow["route"],
    createdAt: timeOfId(id),
    startedAt: null,
    endedAt,
    reserved: 0,
  };
}
