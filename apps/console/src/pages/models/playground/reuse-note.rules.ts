import type { PredictionRecord } from "@gantry/sdk";
import type { ReadInput } from "./kept-input.rules.ts";

const absent: Record<PredictionRecord["input_state"], string | undefined> = {
  kept: undefined,
  pending: "The prediction is still running. Its input can be reused when it ends.",
  not_kept: "The input of this prediction was not kept.",
  deleted: "The input of this prediction was deleted.",
  expired: "The input of this prediction has expired.",
};

/** What the form could not take over from a prediction; undefined if it has everything. */
export function reuseNote(
  { input_state, input_truncated, input }: Pick<PredictionRecord, "input_state" | "input_truncated" | "input">,
  read: Pick<ReadInput, "unknown" | "missingFiles"> | undefined,
): string | undefined {
  if (!input || !read) return absent[input_state] ?? absent.not_kept;
  const { missingFiles, unknown } = read;
  const notes = [
    ...(missingFiles.length > 0
      ? [`Files sent with the request are not stored. Add them again: ${missingFiles.join(", ")}.`]
      : []),
    ...(unknown.length > 0 ? [`The model no longer has these fields: ${unknown.join(", ")}.`] : []),
    ...(input_truncated ? ["The input was too long to be kept whole."] : []),
  ];
  return notes.length > 0 ? notes.join(" ") : undefined;
}
