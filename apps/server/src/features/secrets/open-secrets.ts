import type { Database } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import { fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import { deleteSecret, type SecretRow, selectNames, selectSealed, selectSecrets, upsertSecret } from "./store.ts";

/** Stored credentials. No API returns them to a user. */
export interface Secrets {
  put(ownerId: string, name: string, value: string): Promise<{ created: boolean; row: SecretRow }>;
  list(ownerId: string, range: { limit: number; offset: number }): Promise<{ rows: SecretRow[]; total: number }>;
  remove(ownerId: string, name: string): Promise<void>;
  /** Which of the names are stored. */
  among(ownerId: string, names: readonly string[]): Promise<ReadonlySet<string>>;
  /** For engines that send it; undefined if it does not exist. */
  reveal(ownerId: string, name: string): Promise<string | undefined>;
}

const contextOf = (ownerId: string, name: string) => `secret:${ownerId}:${name}`;

export function openSecrets({ database, vault }: { database: Database; vault: Vault }): Secrets {
  return {
    put: (ownerId, name, value) =>
      database.transaction(async (tx) => {
        const sealed = vault.seal(value, contextOf(ownerId, name));
        const put = await upsertSecret(tx, { ownerId, name, sealed });
        const after = { replaced: !put.created };
        await record(tx, { action: "secret.put", object: { id: name, name }, ownerId, after });
        return put;
      }),
    list: (ownerId, range) => selectSecrets(database.sql, { ownerId, ...range }),
    among: async (ownerId, names) => new Set(await selectNames(database.sql, ownerId, names)),
    async remove(ownerId, name) {
      await database.transaction(async (tx) => {
        if (!(await deleteSecret(tx, ownerId, name))) throw fault("not_found", "Secret not found");
        await record(tx, { action: "secret.delete", object: { id: name, name }, ownerId });
      });
    },
    async reveal(ownerId, name) {
      const sealed = await selectSealed(database.sql, ownerId, name);
      return sealed && vault.open(sealed, contextOf(ownerId, name));
    },
  };
}
