import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import { firstIdAt } from "../../../kernel/first-id-at.ts";

const batch = 500;

/**
 * Deletes input files of queued predictions that have ended. Usually that happens at once, but not when the process died
 * or the prediction was cancelled in the queue. Files after `before` stay: their predictions may be on admission.
 */
export async function deleteForgottenInputs(
  { database, blobs }: { database: Database; blobs: BlobStore },
  before: Date,
): Promise<number> {
  const youngest = firstIdAt("pred", before);
  let deleted = 0;
  let found: { key: string; id: string }[] = [];

  async function deleteEnded(): Promise<void> {
    const rows = await database.sql<{ id: string }[]>`
      select id from live_predictions where id = any(${found.map(({ id }) => id)}::text[])`;
    const live = new Set(rows.map((row) => row.id));
    for (const { key, id } of found) {
      if (live.has(id)) continue;
      await blobs.delete(key);
      deleted++;
    }
    found = [];
  }

  for await (const key of blobs.keys("inputs/")) {
    const id = key.split("/")[1] ?? "";
    if (!id.startsWith("pred_") || id >= youngest) continue;
    found.push({ key, id });
    if (found.length === batch) await deleteEnded();
  }
  await deleteEnded();
  return deleted;
}
