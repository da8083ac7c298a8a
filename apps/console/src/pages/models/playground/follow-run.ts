import { GantryError, textSoFar } from "@gantry/sdk";
import { api } from "../../../api/client.ts";
import type { RunChange } from "./run.ts";
import { withRequestId } from "./run-error.rules.ts";

interface Following {
  model: string;
  isStreamed: boolean;
  signal: AbortSignal;
  change(change: RunChange): void;
}

/** Shows an accepted prediction until it ends. The prediction does not depend on it. */
export async function followRun(predictionId: string, { model, isStreamed, signal, change }: Following): Promise<void> {
  try {
    if (isStreamed) {
      for await (const event of api.follow(model, predictionId, { signal })) {
        change((run) => {
          const text = textSoFar(run.text, event);
          return {
            text,
            ...(text !== "" && run.watched && { watched: { firstTextAt: Date.now(), ...run.watched } }),
            // Outputs that are not streamed arrive at once, with their files.
            ...(event.files && { files: event.files, output: event.output_data ?? {} }),
          };
        });
      }
    } else {
      const { output_data: output, files } = await api.waitFor(model, predictionId, { signal });
      change(() => ({ output, files }));
    }
    change(() => ({ state: "done" }));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof GantryError && error.status === 499) change(() => ({ state: "cancelled" }));
    else change(() => ({ state: "failed", error }));
  }
  await settle(predictionId, { signal, change });
}

/** The record knows the exact times, and the request that a support engineer must look for. */
async function settle(predictionId: string, { signal, change }: Pick<Following, "signal" | "change">): Promise<void> {
  const seenAt = Date.now();
  const record = await api.predictions.read(predictionId, { signal }).catch(() => undefined);
  change((run) => ({
    startedAt: record ? Date.parse(record.created_at) : run.startedAt,
    endedAt: record?.ended_at ? Date.parse(record.ended_at) : seenAt,
    ...(run.watched && { watched: { ...run.watched, endedAt: seenAt } }),
    ...(run.error !== undefined && { error: withRequestId(run.error, record?.request_id ?? undefined) }),
    ...(run.text === "" && record?.text && { text: record.text }),
  }));
}
