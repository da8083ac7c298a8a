import { isId, type RunSecretRecord } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import { secretContext } from "./work/tool-calls.ts";

/** A secret that a tool made: given out once, to the caller of the run, within a day. */
export async function fetchSecret(
  context: RunsContext,
  caller: Caller,
  runId: string,
  secretId: string,
): Promise<RunSecretRecord> {
  const run = await readOwnRun(context, caller, runId);
  const rootId = run.ancestors[0] ?? run.id;
  const taken = isId("secret", secretId) && (await takeSecret(context.database.sql, rootId, secretId));
  if (!taken) throw fault("not_found", "There is no such secret, or it was fetched before");
  context.log.info({ run_id: run.id, user_id: caller.userId }, "a one-time secret of a run was fetched");
  return { id: secretId, field: taken.field, value: context.vault.open(taken.sealed, secretContext(rootId, secretId)) };
}

/** Takes it out: nobody gets it a second time. */
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
