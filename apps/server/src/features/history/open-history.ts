import { withContext } from "../../kernel/with-context.ts";
import type { Files } from "../files/index.ts";
import type { Predictions } from "../predictions/index.ts";
import type { HistoryDeps } from "./context.ts";
import { deleteContent } from "./delete-content.ts";
import { exportPredictions } from "./export-predictions.ts";
import { listPredictions } from "./list-predictions.ts";
import { readPrediction } from "./read-prediction.ts";

export type History = ReturnType<typeof openHistory>;

/** Predictions of a user with their inputs and outputs, as long as they are kept. */
export function openHistory({
  predictions,
  files,
  ...deps
}: Omit<HistoryDeps, "linksOf" | "linkOf" | "files"> & { predictions: Predictions; files: Files }) {
  const context: HistoryDeps = {
    ...deps,
    files,
    linksOf: (id, output, base) => predictions.linksOf(id, output as Parameters<Predictions["linksOf"]>[1], base),
    linkOf: async (s3Path, base) => (await files.presignDownload({ s3Path, base })).url,
  };
  return withContext(context, { exportPredictions, listPredictions, readPrediction, deleteContent });
}
