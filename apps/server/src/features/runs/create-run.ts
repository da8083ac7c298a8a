import { createRunBody, type Door, newId, type ReadRunBody } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { Fault, fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { microsOfDollars } from "../../kernel/money.ts";
import { schemaIssues } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import { type Caller, isConfined, scopeOf } from "../accounts/index.ts";
import { type AgentAddress, agentName, agentNotFound, type Runnable } from "../agents/index.ts";
import { type RateFigures, rateHeaders } from "../predictions/index.ts";
import { accept, findFirst, idempotencyOf } from "./accept-run.ts";
import { approveIssues } from "./approve-issues.ts";
import type { RunsContext } from "./context.ts";
import type { NewRun } from "./create-store.ts";
import type { Run } from "./run.ts";
import { withWebhook } from "./run-webhook.ts";
import { threadSequence } from "./threads/thread-store.ts";
import { mayServe, modelOf } from "./work/access.ts";

export interface CreateRunRequest {
  caller: Caller;
  address: AgentAddress;
  body: unknown;
  idempotencyKey: string | undefined;
  baseUrl: string;
  /** Set for a run that answers a client of another protocol. */
  door?: DoorRun;
  /** Set for a run that a schedule or a trigger creates. */
  source?: RunSource;
}

export interface RunSource {
  /** Of the schedule or trigger. */
  id: string;
  /** The run waits until earlier runs with the same text have ended. */
  sequence?: string | undefined;
  /** Called in the transaction that stores the run. If it rejects, the run is not created. */
  within?(tx: Transaction, runId: string): Promise<void>;
}

export interface DoorRun {
  name: Door;
  /** The client wants the text as it is written. */
  isFollowed: boolean;
  /** The run's body. Called after the checks of funds and limits. */
  bodyFor(runnable: Runnable): Promise<unknown>;
  /** The run that must be the last one of the thread; see `ThreadMovedOn`. */
  after?: string | undefined;
}

export interface CreatedRun {
  run: Run;
  rate: RateFigures | undefined;
  /** How long the response waits for the end of the run. */
  waitMs: number;
}

/**
 * Accepts a run. Checks run in the order of predictions: agent, key, funds, limits, then the request and its input. The
 * transaction that creates the run also reserves its price. A repeat returns the first run, even if the agent was deleted.
 */
export async function createRun(context: RunsContext, request: CreateRunRequest): Promise<CreatedRun> {
  const { caller, body } = request;
  const idempotency = idempotencyOf(request);
  const first = idempotency && (await findFirst(context, request.address, idempotency));
  if (first) return { run: first, rate: await rateAfter(context, caller, first), waitMs: waitMsOf(body) };
  if (isConfined(caller) && isRecord(body) && body.revision_id !== undefined) {
    const msg = "This key is limited to some models and cannot choose a revision. Leave revision_id out.";
    throw fault("forbidden", msg, { loc: ["body", "revision_id"] });
  }
  const runnable = await findRunnable(context, request).catch((error) => {
    // Such a key must not learn of agents that it may not run.
    throw isConfined(caller) && error instanceof Fault && error.status < 500 ? agentNotFound() : error;
  });
  const rate = await lookAtLimits(context, caller, runnable);
  try {
    const wanted = await readBody(
      context,
      caller,
      runnable,
      request.door ? await request.door.bodyFor(runnable) : body,
    );
    const run = newRun(request, runnable, wanted);
    const created = await accept(context, run, {
      idempotency,
      expectedPrice: wanted.expected_price,
      thread: { onlyKeyIds: scopeOf(caller).onlyKeyIds, after: request.door?.after },
      within: withWebhook(context.vault, run, runnable, wanted, request.source?.within),
    });
    context.wakeWorkers();
    return { run: created, rate, waitMs: waitMsOf(wanted) };
  } catch (error) {
    // A refused request counts against the rate limit.
    if (error instanceof Fault) Object.assign(error.headers, rateHeaders(rate));
    throw error;
  }
}

async function findRunnable({ agents }: RunsContext, { caller, address, body }: CreateRunRequest): Promise<Runnable> {
  const { revision_id: named } = (body ?? {}) as { revision_id?: unknown };
  if (typeof named === "string" && named !== "") return agents.getRunnable(caller.userId, address, named);
  return agents.getRunnable(caller.userId, address).catch((error) => {
    // With an invalid revision_id, the issue of the field matters more.
    const isUnpublished = error instanceof Fault && error.type === "agent_not_published";
    if (isUnpublished && named !== undefined) throwIfAny(bodyIssues(body).issues);
    throw error;
  });
}

function waitMsOf(body: unknown): number {
  const { wait } = createRunBody.pick({ wait: true }).strip().safeParse(body).data ?? {};
  return (wait ?? 0) * 1000;
}

/** Issues that do not depend on the agent. A body that is too deep is not checked further. */
function bodyIssues(body: unknown): ReturnType<typeof storableIssues> {
  const given = body ?? {};
  const { issues, isTooDeep } = storableIssues(given);
  if (!isTooDeep) addNew(issues, schemaIssues(createRunBody, given, ["body"]));
  return { issues, isTooDeep };
}

/** Adds issues of paths without an issue. */
function addNew(issues: Issue[], more: readonly Issue[]): void {
  const pathOf = ({ loc }: Issue) => JSON.stringify(loc);
  const seen = new Set(issues.map(pathOf));
  issues.push(...more.filter((issue) => !seen.has(pathOf(issue))));
}

async function readBody(
  context: RunsContext,
  { userId }: Caller,
  runnable: Runnable,
  body: unknown,
): Promise<ReadRunBody> {
  const given = body ?? {};
  const { issues, isTooDeep } = bodyIssues(given);
  const { input, approve } = given as { input?: unknown; approve?: unknown };
  // A list with an issue of its own may be of any length.
  const isList = Array.isArray(approve) && !issues.some(({ loc }) => loc.length === 2 && loc[1] === "approve");
  if (!isTooDeep && isList) addNew(issues, await approveIssues(context, runnable, approve));
  if (!isTooDeep && isRecord(input)) {
    const faults = await context.schemas.validate(runnable.revision.snapshot.input_schema, input, userId);
    addNew(
      issues,
      faults.map(({ path, message }) => ({ type: "value_error", loc: ["body", "input", ...path], msg: message })),
    );
  }
  throwIfAny(issues);
  return createRunBody.parse(given);
}

async function lookAtLimits(
  { agents, models, predictions }: RunsContext,
  caller: Caller,
  { agent, revision, isOwner }: Runnable,
): Promise<RateFigures | undefined> {
  if (!(await agents.keyReachesAgent(caller, agent, revision.snapshot))) {
    if (isOwner && agent.visibility === "private") throw agentNotFound();
    throw fault("forbidden", "API key does not have access to the agent's model");
  }
  const model = await modelOf({ models }, agent.ownerId, revision.snapshot);
  if (!mayServe(model, agent.ownerId)) {
    const { model: name } = revision.snapshot;
    throw fault("conflict", `The agent's model ${name} no longer exists, or its creator may not use it`);
  }
  return predictions.look({ caller, model, route: "async", counts: true });
}

/** A repeat does not count as a request. */
async function rateAfter(
  { agents, models, predictions }: RunsContext,
  caller: Caller,
  { agentId, revisionId, ownerId }: Run,
): Promise<RateFigures | undefined> {
  const revision = await agents.getRevision(agentId, revisionId);
  const model = revision && (await modelOf({ models }, ownerId, revision.snapshot));
  return model && predictions.rate({ caller, model, route: "async" });
}

function newRun(
  { caller, baseUrl, door, source }: CreateRunRequest,
  { agent, revision, isOwner }: Runnable,
  wanted: ReadRunBody,
): NewRun {
  const price = isOwner ? 0 : microsOfDollars(revision.snapshot.pricing.per_run);
  const threadId = wanted.thread_id ?? null;
  const maxCost = wanted.max_cost === undefined ? null : microsOfDollars(wanted.max_cost);
  if (maxCost !== null && maxCost < price) {
    const msg = "max_cost is below the price of the agent. Increase it or choose a cheaper agent.";
    throw fault("value_error", msg, { loc: ["body", "max_cost"], ctx: { per_run: revision.snapshot.pricing.per_run } });
  }
  return {
    id: newId("run"),
    agentId: agent.id,
    revisionId: revision.id,
    ownerId: agent.ownerId,
    userId: caller.userId,
    keyId: caller.keyId,
    ancestors: [],
    parentStep: null,
    parentPosition: null,
    input: wanted.input,
    maxCost,
    timeoutMs: wanted.timeout_seconds * 1000,
    maxSteps: wanted.max_steps,
    approve: wanted.approve ?? [],
    // Own agents need no permission; agents of other creators that they call do.
    connectors: wanted.connectors ?? [],
    baseUrl,
    door: door?.name ?? null,
    isFollowed: door?.isFollowed ?? false,
    callId: newId("prediction"),
    price,
    saleName: agentName(agent),
    sourceId: source?.id ?? null,
    // A thread orders all its runs, also those of one schedule or trigger.
    sequence: threadId === null ? (source?.sequence ?? null) : threadSequence(caller.userId, threadId),
    threadId,
  };
}
