import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/database.ts";
import { selectLive } from "./store.ts";
import { firstIdAt } from "./time-of-id.rules.ts";

const atOnce = 500;

/**
 * Deletes the input files of queued predictions that have ended: usually that is done at once, but not when the process
 * died in between, or when the prediction was cancelled while it waited. `before` keeps those that are being accepted.
 */
export async function dropForgottenInputs(
  { database, blobs }: { database: Database; blobs: BlobStore },
  before: Date,
): Promise<number> {
  const youngest = firstIdAt("pred", before);
  let dropped = 0;
  let held: { key: string; id: string }[] = [];

  async function dropEnded(): Promise<void> {
    const live = await selectLive(
      database.sql,
      held.map(({ id }) => id),
    );
    for (const { key, id } of held) {
      if (live.has(id)) continue;
      await blobs.delete(key);
      dropped++;
    }
    held = [];
  }

  for await (const key of blobs.keys("inputs/")) {
    const id = key.split("/")[1] ?? "";
    if (!id.startsWith("pred_") || id >= youngest) continue;
    held.push({ key, id });
    if (held.length === atOnce) await dropEnded();
  }
  await dropEnded();
  return dropped;
}
