import { newId } from "@gantry/wire";
import { Fault, fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { isWithinDepth } from "../../kernel/storable-issues.ts";
import type { Caller } from "../accounts/index.ts";
import type { TriggersContext } from "./context.ts";
import { deliveryIdOf } from "./delivery-id.rules.ts";
import type { RefusalLog } from "./refusal-log.ts";
import { countLiveRuns, findAccepted, insertDelivery, pause } from "./store.ts";
import { type Trigger, triggerNotFound, verificationContext } from "./trigger.ts";
import { type Headers, whyUnverified } from "./verify.rules.ts";

/** A request to the address of a trigger. */
export interface Arrival {
  headers: Headers;
  query: Readonly<Record<string, unknown>>;
  /** The body as it was sent. */
  bytes: Uint8Array;
  /** Called only for a verified body. Rejects with a fault if the body cannot be read. */
  readBody(): Promise<unknown>;
  baseUrl: string;
}

export interface Received {
  runId: string;
  isDuplicate: boolean;
}

class NotAccepted extends Error {}

/** Credentials of the sender are not for prompts. */
const hiddenHeaders = /^(authorization|cookie|proxy-.*)$|api-?key|token|secret|password/;

/**
 * Starts one run for a delivery. The row of the delivery is written with the run, so that of several deliveries with one
 * id, also on several nodes, exactly one starts a run. A refused delivery can be sent again.
 */
export async function receiveDelivery(
  context: TriggersContext & { refusals: RefusalLog },
  trigger: Trigger,
  arrival: Arrival,
): Promise<Received> {
  let deliveryId: string | undefined;
  try {
    refuseIdle(trigger);
    verify(context, trigger, arrival);
    const body = await arrival.readBody();
    if (!isWithinDepth(body)) throw fault("json_invalid", "The body is nested too deeply");
    deliveryId = deliveryIdOf(trigger, { headers: arrival.headers, body });
    const first =
      deliveryId === undefined ? undefined : await findAccepted(context.database.sql, trigger.id, deliveryId);
    if (first !== undefined) return await repeated(context, trigger, deliveryId, first);
    const caller = await callerOf(context, trigger);
    await refuseFullQueue(context, trigger);
    return { runId: await startRun(context, trigger, { caller, deliveryId, arrival, body }), isDuplicate: false };
  } catch (error) {
    if (error instanceof NotAccepted && deliveryId !== undefined) {
      const first = await findAccepted(context.database.sql, trigger.id, deliveryId);
      if (first !== undefined) return repeated(context, trigger, deliveryId, first);
    }
    // Deleted or changed meanwhile.
    if (error instanceof NotAccepted) throw triggerNotFound();
    if (error instanceof Fault && error.status < 500) await context.refusals.note(trigger.id, deliveryId, error);
    throw shownToSender(error);
  }
}

function refuseIdle({ enabled, pausedReason }: Trigger): void {
  if (!enabled) throw fault("conflict", "The trigger is disabled. Its owner can enable it.");
  if (pausedReason !== null) throw fault("conflict", "The trigger is paused. Its owner can resume it.");
}

/** As for schedules and threads. */
const mostQueued = 100;

/** Two deliveries at once may both be the last one. */
async function refuseFullQueue({ database }: TriggersContext, { id, overlap }: Trigger): Promise<void> {
  if (overlap !== "queue" || (await countLiveRuns(database.sql, id, mostQueued)) < mostQueued) return;
  throw fault("rate_limit", `${mostQueued} runs of the trigger are already under way or waiting.`, {
    retryAfterSeconds: 60,
  });
}

function verify({ vault, clock }: TriggersContext, trigger: Trigger, { headers, bytes }: Arrival): void {
  const { id, ownerId, verification, verificationSecret } = trigger;
  if (verification === null || verificationSecret === null) return;
  const secret = vault.open(verificationSecret, verificationContext(ownerId, id));
  const why = whyUnverified(verification, secret, { headers, bytes, now: clock.now() });
  if (why !== undefined) throw fault("unauthorized", why);
}

async function callerOf({ accounts, database, log }: TriggersContext, trigger: Trigger): Promise<Caller> {
  const caller = await accounts.callerOfKey(trigger.keyId);
  if (caller && caller.userId === trigger.ownerId) return caller;
  log.warn({ trigger_id: trigger.id }, "Paused a trigger: its key no longer works.");
  await pause(
    database.sql,
    trigger,
    "The API key of the trigger no longer works. Enable the trigger again with another key.",
  );
  throw fault("conflict", "The trigger is paused. Its owner can resume it.");
}

async function startRun(
  context: TriggersContext,
  trigger: Trigger,
  {
    caller,
    deliveryId,
    arrival,
    body,
  }: { caller: Caller; deliveryId: string | undefined; arrival: Arrival; body: unknown },
): Promise<string> {
  const { id: triggerId, agentId, overlap } = trigger;
  try {
    const { run } = await context.runs.create({
      caller,
      address: { agentId },
      body: runBodyOf(context, trigger, arrival, body),
      idempotencyKey: undefined,
      baseUrl: arrival.baseUrl,
      source: {
        id: triggerId,
        sequence: overlap === "queue" ? triggerId : undefined,
        async within(tx, runId) {
          const delivery = { id: newId("delivery"), triggerId, deliveryId, status: "accepted", runId } as const;
          if (!(await insertDelivery(tx, delivery, trigger))) throw new NotAccepted();
        },
      },
    });
    return run.id;
  } catch (error) {
    // Deleted, or no longer public.
    if (error instanceof Fault && error.type === "not_found")
      await pause(context.database.sql, trigger, "The agent of the trigger does not exist any more, or is not public.");
    throw error;
  }
}

function runBodyOf(
  { templates }: TriggersContext,
  trigger: Trigger,
  { headers, query }: Arrival,
  body: unknown,
): object {
  const { maxCost, expectedPrice, threadId, approve, connectors } = trigger;
  const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => !hiddenHeaders.test(name)));
  const data = { body, headers: shown, query };
  return {
    input: trigger.input === null ? asInput(body) : templates.fill(trigger.input, data),
    ...(threadId !== null && { thread_id: asText(templates.fill(threadId, data)) }),
    ...(maxCost !== null && { max_cost: maxCost }),
    ...(expectedPrice !== null && { expected_price: expectedPrice }),
    ...(approve.length > 0 && { approve }),
    ...(connectors.length > 0 && { connectors }),
  };
}

function asInput(body: unknown): unknown {
  if (isRecord(body)) return body;
  throw fault("json_invalid", "The body must be a JSON object, because the trigger has no input of its own");
}

/** A number, such as that of an issue, is a valid id. */
function asText(value: unknown): unknown {
  return typeof value === "number" ? String(value) : (value ?? "");
}

async function repeated(
  { refusals }: { refusals: RefusalLog },
  { id }: Trigger,
  deliveryId: string | undefined,
  runId: string,
): Promise<Received> {
  await refusals.noteDuplicate(id, deliveryId, runId);
  return { runId, isDuplicate: true };
}

/** Types whose messages are about the delivery. Others are about the account of the trigger's owner. */
const ofDelivery = new Set(["unauthorized", "rate_limit", "concurrent_requests_limit", "request_timeout"]);

function shownToSender(error: unknown): unknown {
  if (!(error instanceof Fault) || error.status === 422 || error.status >= 500 || ofDelivery.has(error.type))
    return error;
  const { headers, retryable } = error;
  if (error.type === "insufficient_funds")
    return fault("insufficient_funds", "The owner of the trigger has insufficient funds", { headers, retryable });
  const msg = "The trigger cannot start its agent now. Its owner finds the reason in the deliveries of the trigger.";
  return fault("conflict", msg, { cause: error });
}
