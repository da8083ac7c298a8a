import { type ReadRunBody, type RunWebhook, type RunWebhookEvent, runWebhookEvents } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Caller } from "../accounts/index.ts";
import type { Runnable } from "../agents/index.ts";
import { readWebhook, storeRunWebhook, type Webhook } from "../webhooks/index.ts";
import { type Confirmation, readConfirmationsOf } from "./confirmations.ts";
import type { RunsContext } from "./context.ts";
import type { NewRun } from "./create-store.ts";
import { type ShownRun, showRuns } from "./read-runs.ts";
import { findRun } from "./store.ts";

type Within = (tx: Transaction, runId: string) => Promise<void>;

/** Stores the run's webhook, or the agent's for a run by its owner, in the transaction that stores the run. */
export function withWebhook(
  vault: Vault,
  { userId }: Pick<NewRun, "userId">,
  runnable: Runnable,
  wanted: Pick<ReadRunBody, "webhook">,
  within: Within | undefined,
): Within | undefined {
  const webhook = webhookOf(runnable, wanted);
  if (webhook === undefined) return within;
  return async (tx, runId) => {
    await within?.(tx, runId);
    await storeRunWebhook(tx, vault, { userId, runId }, webhook);
  };
}

function webhookOf(
  { revision, isOwner }: Runnable,
  { webhook: own }: Pick<ReadRunBody, "webhook">,
): (Webhook & { events: readonly RunWebhookEvent[] }) | undefined {
  const given = own === undefined && isOwner ? revision.snapshot.webhook : own;
  if (!given) return undefined;
  const { events = [...runWebhookEvents], ...webhook }: RunWebhook = given;
  return { ...readWebhook(webhook), events };
}

/** A run as its caller reads it, and one of its confirmations. */
export interface RunForWebhook {
  shown: ShownRun;
  confirmation: Confirmation | undefined;
}

/** Undefined if the run does not exist any more. */
export async function readForWebhook(
  context: RunsContext,
  runId: string,
  confirmationId: string,
): Promise<RunForWebhook | undefined> {
  const run = await findRun(context.database.sql, runId);
  if (!run) return undefined;
  const reader: Pick<Caller, "userId"> = { userId: run.userId };
  const [shown] = await showRuns(context, reader, [{ run, as: "caller" }]);
  const asked = confirmationId === "" ? [] : await readConfirmationsOf(context, reader, run);
  return shown && { shown, confirmation: asked.find(({ id }) => id === confirmationId) };
}
