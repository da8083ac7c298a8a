import { predictionRecord, predictionSummary, predictionsQuery } from "../../predictions.ts";
import { groupOf } from "../operation.ts";

export const predictionGroup = groupOf("/api/v2", {
  tag: "Predictions",
  description: "Your predictions with their inputs and outputs. A key limited to models sees only its own.",
  operations: {
    listPredictions: {
      method: "get",
      path: "/predictions",
      summary: "List your predictions",
      description:
        "Those that wait or run first, newest first; then those that have ended, last ended first. `from_date` and `to_date` apply to the end, or to `created_at` until it ends. With filters, at most the last 50,000 predictions of the range are searched. If there are more, `searched_from` is the time of the oldest that was searched: use it as the next `to_date`.",
      answer: predictionSummary,
      list: "results",
      query: predictionsQuery,
    },
    readPrediction: {
      method: "get",
      path: "/predictions/{id}",
      summary: "Read a prediction",
      description:
        "Input and output are kept as long as results. After that, the figures remain as long as usage is kept.",
      answer: predictionRecord,
    },
    deletePrediction: {
      method: "delete",
      path: "/predictions/{id}",
      summary: "Delete the content of a prediction",
      description:
        "Deletes the input, the output with its files, error texts, the payload of its webhook, and stored responses of it. Result files of an ended batch keep the answer: delete them with `DELETE /v1/files/{file_id}`. The usage and its price stay. Repeating it has no effect. Cancel a prediction that waits or runs first. The content of an agent's model call belongs to its run and cannot be deleted here.",
      status: 204,
      fails: [409],
    },
  },
});
