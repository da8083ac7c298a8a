import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { Database } from "../../../engines/database/database.ts";
import { firstIdAt } from "../../../kernel/first-id-at.ts";
import { deleteOutputs } from "../../files/index.ts";

/** Few, because their files are deleted while their rows are locked. */
const batch = 50;

/** Deletes some results that ended before a moment, with their output files. Rows locked by another node are skipped. */
export async function deleteOldResults(
  { database, blobs }: { database: Database; blobs: BlobStore },
  endedBefore: Date,
): Promise<{ dropped: number; more: boolean }> {
  return database.transaction(async (tx) => {
    // A prediction ends after it begins, so the primary key finds the old ones.
    const rows = await tx<{ id: string }[]>`
      select id from ended_predictions where id < ${firstIdAt("pred", endedBefore)} and ended_at < ${endedBefore}
      order by id limit ${batch} for update skip locked`;
    const ids = rows.map((row) => row.id);
    await deleteOutputs(tx, blobs, ids);
    await tx`delete from ended_predictions where id = any(${ids}::text[])`;
    return { dropped: ids.length, more: ids.length === batch };
  });
}
