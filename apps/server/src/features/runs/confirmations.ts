import { answerConfirmationBody, isId } from "@gantry/wire";
import { fault, throwIfAny } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import type { Caller } from "../accounts/index.ts";
import { type Confirmation, listConfirmations, listExpired, resolveConfirmation } from "./confirmation-store.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";

/** The questions of a run and of all that it started, answered ones too. */
export async function readConfirmations(context: RunsContext, caller: Caller, runId: string): Promise<Confirmation[]> {
  return listConfirmations(context.database.sql, await readOwnRun(context, caller, runId));
}

/** Answers a question, once. The run goes on as soon as nothing else is asked in it. */
export async function answerConfirmation(
  context: RunsContext,
  caller: Caller,
  runId: string,
  confirmationId: string,
  body: unknown,
): Promise<Confirmation> {
  throwIfAny(storableIssues(body ?? {}).issues);
  const { approve, reason } = parseOrThrow(answerConfirmationBody, body ?? {}, ["body"]);
  const { sql } = context.database;
  const run = await readOwnRun(context, caller, runId);
  const find = async () => (await listConfirmations(sql, run)).find((one) => one.id === confirmationId);
  const asked = isId("confirmation", confirmationId) ? await find() : undefined;
  if (!asked) throw fault("not_found", "Confirmation not found");
  const isMine = await resolveConfirmation(sql, confirmationId, approve ? "approved" : "denied", reason ?? null);
  const answered = await find();
  if (!answered) throw fault("not_found", "Confirmation not found");
  if (!isMine) {
    const { phase } = await readOwnRun(context, caller, runId);
    if (phase === "ended" && answered.status === "expired") throw fault("conflict", "The run has ended");
    const status = answered.status === "pending" ? "expired" : answered.status;
    throw fault("conflict", `The confirmation is ${status} already`);
  }
  context.wakeWorkers();
  return answered;
}

const perPass = 100;

/** Questions that nobody answered in time are denied. */
export async function expireConfirmations(context: Pick<RunsContext, "database" | "wakeWorkers">): Promise<void> {
  const { sql } = context.database;
  const expired = await listExpired(sql, perPass);
  for (const id of expired) await resolveConfirmation(sql, id, "expired", "Nobody answered in time");
  if (expired.length > 0) context.wakeWorkers();
}
