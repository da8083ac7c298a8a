import { createHash } from "node:crypto";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import { type Caller, type Scope, scopeOf } from "../accounts/index.ts";
import type { AgentAddress } from "../agents/index.ts";
import {
  findIdempotencyKey,
  idempotencyScope,
  replaceIdempotencyKey,
  type TakenKey,
  takeIdempotencyKey,
} from "../predictions/index.ts";
import type { RunsContext } from "./context.ts";
import { countedNowhere, insertRun, type NewRun } from "./create-store.ts";
import { requirePrice, reserve } from "./reserve-run.ts";
import type { Run } from "./run.ts";
import { findRun } from "./store.ts";
import { joinThread, type ThreadChoice } from "./threads/join-thread.ts";
import { addToThread, deleteEmptyThread } from "./threads/thread-store.ts";
import { canonical } from "./work/tool-results.rules.ts";

export interface Idempotency extends Scope {
  key: string;
  fingerprint: string;
}

/** A key is each agent's own. */
const keyScopeOf = (agentId: string, idempotency: Scope) => idempotencyScope(`run:${agentId}`, idempotency);

/** None for a body that is too deep: it will be refused. */
export function idempotencyOf({
  caller,
  idempotencyKey,
  body,
}: {
  caller: Caller;
  idempotencyKey: string | undefined;
  body: unknown;
}): Idempotency | undefined {
  const given = body ?? {};
  if (idempotencyKey === undefined || storableIssues(given).isTooDeep) return undefined;
  const { wait: _isNoPartOfIt, ...asked } = isRecord(given) ? given : { given };
  const fingerprint = createHash("sha256").update(canonical(asked)).digest("hex");
  return { ...scopeOf(caller), key: idempotencyKey, fingerprint };
}

/** The run of the first request under this key, where it is kept. The agent that it was of need not be there any more. */
export async function findFirst(
  { agents, database: { sql } }: RunsContext,
  address: AgentAddress,
  idempotency: Idempotency,
): Promise<Run | undefined> {
  const scopes = (await agents.idsAt(address)).map((agentId) => keyScopeOf(agentId, idempotency));
  const before = await findIdempotencyKey(sql, idempotency, scopes);
  return before && keptRun(sql, before, idempotency);
}

async function keptRun(sql: Sql, before: TakenKey, { fingerprint }: Idempotency): Promise<Run | undefined> {
  if (before.expired) return undefined;
  const first = await findRun(sql, before.id);
  if (!first || !isKept(first)) return undefined;
  if (before.fingerprint === fingerprint) return first;
  throw fault("idempotency_key_reused", "The Idempotency-Key was used before with another request", {
    loc: ["header", "idempotency-key"],
  });
}

/**
 * Writes the run with its reservation and its key, or finds the run that the key belongs to. The price that is compared
 * with the expected one is the price that is reserved; a repeat is not compared, because its run exists.
 */
export async function accept(
  context: RunsContext,
  wanted: NewRun,
  {
    idempotency,
    expectedPrice,
    within,
    thread,
  }: {
    idempotency: Idempotency | undefined;
    expectedPrice: number | undefined;
    /** See `RunSource`. */
    within: ((tx: Transaction, runId: string) => Promise<void>) | undefined;
    thread: ThreadChoice;
  },
): Promise<Run> {
  const trace = context.telemetry.traceparent();
  // Its row is all that is written: that needs no transaction around it.
  if (!idempotency && !within && wanted.threadId === null && wanted.price === 0) {
    requirePrice(wanted, expectedPrice);
    return insertRun(context.database.sql, wanted, countedNowhere, trace);
  }
  return context.database.transaction(async (tx) => {
    const { threadId } = wanted;
    const run = threadId === null ? wanted : await joinThread(tx, wanted, threadId, thread);
    if (idempotency) {
      const address = { ...idempotency, scope: keyScopeOf(run.agentId, idempotency) };
      const owner = { id: run.id, fingerprint: idempotency.fingerprint };
      if (!(await takeIdempotencyKey(tx, address, owner))) {
        const before = await findIdempotencyKey(tx, address, [address.scope]);
        const first = before && (await keptRun(tx, before, idempotency));
        if (first) {
          if (threadId !== null) await deleteEmptyThread(tx, run.userId, threadId);
          return first;
        }
        await replaceIdempotencyKey(tx, address, owner);
      }
    }
    requirePrice(run, expectedPrice);
    const counted = await reserve(context, tx, run);
    await within?.(tx, run.id);
    if (threadId !== null) await addToThread(tx, run.userId, threadId, run.id);
    return insertRun(tx, run, counted, trace);
  });
}

/** Outcomes that are worth another try are not what a repeat asks for. */
function isKept({ error }: Run): boolean {
  return error === null || (error.type !== "cancelled" && error.type !== "internal");
}
