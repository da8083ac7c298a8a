import type { ProviderType } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { countLocked, deleteUnused, operatorOf, selectFound, upsertFound } from "./store.ts";

export interface FoundServer {
  type: ProviderType;
  url: string;
}

/**
 * Stores the servers that this start has found as providers of the operator. One that is gone is deleted, unless models were
 * imported from it: they work again when the server does.
 */
export async function storeFound(
  database: Pick<Database, "sql" | "transaction">,
  found: readonly FoundServer[],
): Promise<void> {
  const { id: operatorId } = await operatorOf(database.sql);
  await database.transaction(async (tx) => {
    await countLocked(tx, operatorId);
    for (const { type, url } of found) {
      await upsertFound(tx, operatorId, {
        name: type,
        type,
        source: "found",
        url,
        secret: null,
        headers: {},
        query: {},
      });
    }
    await deleteUnused(
      tx,
      operatorId,
      found.map(({ type }) => type),
    );
  });
}

/** Addresses on the server's own machine that the operator's models may call. */
export async function foundAddresses({ sql }: Pick<Database, "sql">): Promise<FoundServer[]> {
  const rows = await selectFound(sql);
  return rows.flatMap(({ type, url }) => (url === null ? [] : [{ type, url }]));
}
