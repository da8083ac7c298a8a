import { isId, type RunSecretRecord } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import { secretContext } from "./work/tool-calls.ts";

/** Returns a secret that a tool created: once, to the caller of the run, within a day. */
export async function fetchSecret(
  context: RunsContext,
  caller: Caller,
  runId: string,
  secretId: string,
): Promise<RunSecretRecord> {
  const run = await readOwnRun(context, caller, runId);
  const rootId = run.ancestors[0] ?? run.id;
  const taken = isId("secret", secretId) && (await takeSecret(context.database.sql, rootId, secretId));
  if (!taken) throw fault("not_found", "The secret does not exist or was already fetched");
  context.log.info({ run_id: run.id, user_id: caller.userId }, "one-time secret of a run fetched");
  return { id: secretId, field: taken.field, value: context.vault.open(taken.sealed, secretContext(rootId, secretId)) };
}

/** Deletes the row, so the secret is returned once. */
async function takeSecret(
  sql: Sql,
  rootId: string,
  id: string,
): Promise<{ field: string; sealed: Uint8Array } | undefined> {
  const [row] = await sql<{ field: string; sealed: Uint8Array }[]>`
    delete from run_secrets where id = ${id} and run_id = ${rootId} and expires_at > now() returning field, sealed`;
  return row;
}

export async function dropExpiredSecrets(sql: Sql): Promise<void> {
  await sql`delete from run_secrets where expires_at < now()`;
}
