import type { Scope } from "../accounts/index.ts";
import { readRunAgents } from "../runs/index.ts";
import type { HistoryDeps } from "./context.ts";
import { previewOfOutput } from "./output-preview.rules.ts";
import { isSponsored, type ListedPrediction, type PredictionRow } from "./prediction.ts";
import { selectDetails, selectFirstFiles, selectKeyNames } from "./store.ts";

/** `preview`: of the input, if it is known from elsewhere. */
type Row = PredictionRow & { preview?: string | null };

const distinct = (ids: readonly (string | null)[]) => [...new Set(ids.filter((id) => id !== null))];

/** Adds names, times and previews to the rows of a page, in a fixed number of queries. */
export async function describeRows(
  { database: { sql }, files, batchesAmong, linkOf }: HistoryDeps,
  { userId }: Scope,
  rows: readonly Row[],
  base: string,
): Promise<ListedPrediction[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const [details, firstFiles, keys, agents, batches] = await Promise.all([
    selectDetails(sql, ids),
    selectFirstFiles(sql, userId, ids),
    selectKeyNames(sql, distinct(rows.map(({ keyId }) => keyId))),
    readRunAgents(sql, distinct(rows.map(({ runId }) => runId)), userId),
    batchesAmong(ids),
  ]);
  return Promise.all(
    rows.map(async ({ preview = null, ...row }): Promise<ListedPrediction> => {
      const detail = details.get(row.id);
      const file = firstFiles.get(row.id);
      const url = file && files.addressOf(file.key);
      const agent = agents.get(row.runId ?? "");
      return {
        ...row,
        createdAt: detail?.createdAt ?? row.createdAt,
        startedAt: detail?.startedAt ?? row.startedAt,
        key: keys.get(row.keyId ?? "") ?? null,
        agent: agent ? { id: agent.id, name: agent.name } : null,
        batchId: batches.get(row.id) ?? null,
        runId: isSponsored(row) ? null : row.runId,
        previewOfInput: detail?.preview ?? preview,
        previewOfOutput: previewOfOutput(detail?.outputHead ?? null),
        file: file && url ? { url, contentType: file.contentType, link: await linkOf(url, base) } : null,
      };
    }),
  );
}
