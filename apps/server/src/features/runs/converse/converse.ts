import type { Door } from "@gantry/wire";
import type { ChatMessage } from "../../../engines/models/chat.ts";
import type { TokenUsage } from "../../../engines/models/driver.ts";
import { Fault, fault, isUnavailable, type Loc } from "../../../kernel/errors.ts";
import type { Micros } from "../../../kernel/money.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { RateFigures } from "../../predictions/index.ts";
import { cancelRun } from "../cancel-run.ts";
import { listConfirmations } from "../confirmations.ts";
import type { RunsContext } from "../context.ts";
import { type CreatedRun, createRun } from "../create-run.ts";
import { isAsking, type Run } from "../run.ts";
import { listStepsAfter, markFollowed } from "../store.ts";
import { ThreadMovedOn } from "../threads/join-thread.ts";
import { AnswerReader } from "./answer-reader.ts";
import { outputText } from "./answer-text.rules.ts";
import { type ChosenThread, chooseThread, newMessages, type ThreadRequest } from "./choose-thread.ts";
import { conversationInput, doorIssue } from "./conversation-input.rules.ts";
import { faultOfError, faultOfRun } from "./run-fault.rules.ts";

export interface ConversationRequest extends ThreadRequest {
  /** Of `agents/<creator>/<slug>`. */
  address: { creator: string; slug: string };
  door: Door;
  /** The request as the client sent it, for the comparison of repeats. */
  body: Readonly<Record<string, unknown>>;
  /** Called after the checks of funds and limits, because it may fetch images. Rejects with a fault that names the field. */
  readMessages(options: { withoutEarlier: boolean }): Promise<readonly ChatMessage[]>;
  /** As the client sent it. Only fields of the agent's `input_schema` and `thread_id` are used. */
  metadata: unknown;
  /** With a key, the run goes on when the client disconnects: a repeat fetches it. */
  idempotencyKey: string | undefined;
  baseUrl: string;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Called once the run exists. */
  onCreated?(run: Run, rate: RateFigures | undefined): void;
  /** Given if the client wants a stream: receives the text as it is written. A returned promise delays further text. */
  onText?(text: string): void | Promise<void>;
  onReasoning?(text: string): void | Promise<void>;
}

export interface ConversationEnd {
  run: Run;
  /** The output of the run as text. */
  text: string;
  /** Of all calls of the run. */
  usage: TokenUsage;
  /** Includes the price of the agent. */
  cost: Micros;
}

const retryMs = 1_000;
/** The conversation is part of the run, which is read as a whole. */
const mostInputBytes = 4 * 1024 * 1024;

/**
 * Runs an agent for a client that waits for the answer:
 *
 *   created ──► ended: done | error
 *      ├──► needs a confirmation: the run waits, the client gets a fault that names it
 *      ├──► the client disconnects, or this node shuts down: cancelled, unless a repeat may fetch the answer
 *      └──► the database is unavailable: waits on, because the run does too
 */
export async function converse(context: RunsContext, request: ConversationRequest): Promise<ConversationEnd> {
  const { run: created, rate } = await create(context, request);
  request.onCreated?.(created, rate);
  const { run, reader } = await follow(context, request, created).catch(async (error) => {
    if (request.idempotencyKey === undefined) await cancelRun(context, request.caller, created.id);
    throw error;
  });
  if (run.status === "done") {
    const text = outputText(run.output);
    if (reader) await patiently(request.signal, () => reader.finish(text));
    const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = run;
    return { run, text, usage: { inputTokens, outputTokens, cachedTokens, cacheWriteTokens }, cost: run.cost };
  }
  if (run.status === "error") throw faultOfError(run);
  if (isAsking(run)) throw await confirmationRequired(context, run);
  throw await leave(context, request, run);
}

async function create(context: RunsContext, request: ConversationRequest): Promise<CreatedRun> {
  try {
    return await createIn(context, request, await chooseThread(context.database.sql, request, true)).catch(
      async (error) => {
        if (!(error instanceof ThreadMovedOn)) throw error;
        return createIn(context, request, await chooseThread(context.database.sql, request, false));
      },
    );
  } catch (error) {
    throw error instanceof Fault ? doorFault(error, request.address) : error;
  }
}

function createIn(
  context: RunsContext,
  request: ConversationRequest,
  thread: ChosenThread | undefined,
): Promise<CreatedRun> {
  const { caller, address, metadata, idempotencyKey, baseUrl, onText } = request;
  const { isContinued = false, isNamed = false } = thread ?? {};
  // A repeat may read the answer in the other way.
  const { stream: _stream, stream_options: _options, ...repeated } = request.body;
  return createRun(context, {
    caller,
    address,
    body: { repeated },
    idempotencyKey,
    baseUrl,
    door: {
      name: request.door,
      isFollowed: onText !== undefined,
      after: thread?.after,
      bodyFor: async ({ revision: { snapshot } }) => {
        const messages = await request.readMessages({ withoutEarlier: isContinued });
        const sent = isContinued && isNamed ? newMessages(messages) : messages;
        const input = inputFor(snapshot.input_schema, sent, metadata);
        return thread ? { input, thread_id: thread.id } : { input };
      },
    },
  });
}

function inputFor(...given: Parameters<typeof conversationInput>): ReturnType<typeof conversationInput> {
  const input = conversationInput(...given);
  // Beside the messages, `input` repeats a part of them.
  const counted = "messages" in input ? { ...input, input: undefined } : input;
  if (Buffer.byteLength(JSON.stringify(counted)) <= mostInputBytes) return input;
  const msg = `An agent accepts conversations of ${mostInputBytes / 1024 ** 2} MB. Send fewer messages, or smaller images.`;
  throw fault("value_error", msg, { loc: ["body", "messages"] });
}

/** Refusals that do not tell a client more than that it cannot use the agent as a model. */
const unusable: readonly string[] = ["not_found", "forbidden", "conflict", "agent_not_published"];

/** Refusals of a thread or of an earlier answer. */
const isAboutField = ([, field]: Loc) => field === "thread_id" || field === "previous_response_id";

function doorFault(error: Fault, { creator, slug }: ConversationRequest["address"]): Fault {
  const { headers, retryable, retryAfterSeconds, cause } = error;
  if (unusable.includes(error.type) && !isAboutField(error.issues[0].loc)) {
    const name = `agents/${creator}/${slug}`;
    const msg =
      error.type === "not_found"
        ? `The agent ${name} does not exist, or is private to another user. Check the name of the model.`
        : `The agent ${name} cannot be used. ${error.message}.`;
    return fault("not_found", msg, { loc: ["body", "model"], headers, cause });
  }
  const [first, ...more] = error.issues;
  return new Fault([doorIssue(first), ...more.map(doorIssue)], {
    headers,
    retryable,
    cause,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Waits for the end of the run, a confirmation, or the client. Passes its text on meanwhile. */
async function follow(
  context: RunsContext,
  request: ConversationRequest,
  created: Run,
): Promise<{ run: Run; reader: AnswerReader | undefined }> {
  const { onText, onReasoning } = request;
  if (!onText) return { run: await untilOver(context, created, request.signal), reader: undefined };
  const { sql } = context.database;
  const revision = await context.agents.getRevision(created.agentId, created.revisionId);
  if (!revision) throw new Error(`revision ${created.revisionId} of a run does not exist`);
  const listSteps = (after: number) => listStepsAfter(sql, created.id, after);
  const reader = new AnswerReader({ snapshot: revision.snapshot, listSteps }, { onText, onReasoning });
  const broken = new AbortController();
  const trouble = (error: unknown) => {
    // Missed text is read when the next step is stored, or at the end.
    if (!isUnavailable(error)) broken.abort(error);
  };
  const ends = [
    context.texts.follow(created.id, (piece) => void reader.take(piece).catch(trouble)),
    context.feed.watch(created.id, () => void reader.look().catch(trouble)),
  ];
  try {
    // The run of an earlier request under the same key.
    if (!created.isFollowed) await markFollowed(sql, created.id);
    if (created.steps > 0) await reader.look().catch(trouble);
    const run = await untilOver(context, created, AbortSignal.any([request.signal, broken.signal]));
    if (!request.signal.aborted) broken.signal.throwIfAborted();
    return { run, reader };
  } finally {
    for (const end of ends) end();
  }
}

async function untilOver({ feed }: RunsContext, created: Run, signal: AbortSignal): Promise<Run> {
  if (created.completedAt !== null || isAsking(created) || signal.aborted) return created;
  const options = { signal, seenLive: true, orAsking: true, whileHeld: true };
  return (await feed.untilEnded(created.id, Number.POSITIVE_INFINITY, options)) ?? created;
}

/** Retries while the database is unavailable, as the run does, until the client disconnects. */
async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
      await sleep(retryMs, signal).catch(() => {});
    }
  }
}

async function confirmationRequired({ database }: RunsContext, run: Run): Promise<Fault> {
  const asked = (await listConfirmations(database.sql, run)).find(({ status }) => status === "pending");
  const what = asked ? ` to call ${asked.tool}` : "";
  const path = `/v1/runs/${run.id}/confirmations`;
  return faultOfRun(
    run,
    "confirmation_required",
    `The run ${run.id} needs a confirmation${what}. Answer it with POST ${path}/${asked?.id ?? "{confirmation_id}"}, then read the run with GET /v1/runs/${run.id}.`,
    { ctx: { ...(asked && { confirmation_id: asked.id, tool: asked.tool }) } },
  );
}

/** The client is gone, or this node is. Without a key no repeat can fetch the answer, so the run is cancelled. */
async function leave(context: RunsContext, request: ConversationRequest, run: Run): Promise<Fault> {
  if (request.idempotencyKey === undefined) await cancelRun(context, request.caller, run.id);
  if (request.signal.aborted) return faultOfRun(run, "generation_cancelled", "The client disconnected");
  const msg = "The server is shutting down. Send the request again.";
  return faultOfRun(run, "service_unavailable", msg, { retryable: true });
}
