import { eventNumber } from "@gantry/wire";
import { agentsOperations, type QueryOf } from "@gantry/wire/operations";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { AgentAddress } from "../../features/agents/index.ts";
import { checkIdempotencyKey, rateHeaders } from "../../features/predictions/index.ts";
import type { ListRunsQuery, Run, Runs, SeenRun, ShownRun } from "../../features/runs/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { type Call, route } from "../foundation/route.ts";
import { readTimeRange } from "../foundation/time-range.ts";
import type { AgentsRoutes } from "./agents-api.ts";
import { confirmationRecord, eventRecord, inboxRecord, runRecord, stepRecord } from "./run-records.ts";
import { streamRunEvents } from "./run-stream.ts";
import { createStreamKeys } from "./run-stream-keys.ts";

const eventsAtOnce = 1000;
const operations = agentsOperations;

/** Starting, reading, following and cancelling runs, and answering their confirmations. */
export function runRoutes(runs: Runs): AgentsRoutes {
  const keys = createStreamKeys();
  const recordsOf = async (caller: Caller, seen: readonly SeenRun[]) => (await runs.show(caller, seen)).map(runRecord);
  const recordOf = async (caller: Caller, seen: SeenRun) => runRecord((await runs.show(caller, [seen]))[0] as ShownRun);
  return (app) => {
    route(app, operations.createRun, { unchecked: "body" }, (call) =>
      startRun(runs, { agentId: call.params.agent_id }, call),
    );

    route(app, operations.createMarketplaceRun, { unchecked: "body" }, (call) =>
      startRun(runs, { creator: call.params.creator_username, slug: call.params.agent_slug }, call),
    );

    route(app, operations.listAgentRuns, async ({ caller, params, query }) => {
      const { limit, offset } = query;
      const { entries, total } = await runs.listOfAgent(caller, params.agent_id, listQueryOf(query));
      return { runs: await recordsOf(caller, entries), total, limit, offset };
    });

    route(app, operations.listRuns, async ({ caller, query }) => {
      const { limit, offset, agent_id: agentId, parent_run_id: parentId, thread_id: threadId } = query;
      const { entries, total } = await runs.listOwn(caller, { ...listQueryOf(query), agentId, parentId, threadId });
      return { runs: await recordsOf(caller, entries), total, limit, offset };
    });

    route(app, operations.readRun, async ({ caller, params, query, reply }) => {
      const seen = await runs.read(caller, params.run_id);
      const run = await runs.awaitEnd(seen.run, isOver(seen.run) ? 0 : query.wait * 1000, clientPresence(reply));
      return recordOf(caller, { ...seen, run });
    });

    route(app, operations.cancelRun, async ({ caller, params }) =>
      recordOf(caller, { run: await runs.cancel(caller, params.run_id), as: "caller" }),
    );

    route(app, operations.followRun, async ({ caller, params, query, request, reply }) => {
      const after = lastSeen(request) ?? query.after;
      const run = await runs.readOwn(caller, params.run_id);
      await streamRunEvents({ runs, keys }, run, { after, withText: query.text === "true" }, reply);
      return reply;
    });

    route(app, operations.listRunEvents, async ({ caller, params, query, request }) => {
      const after = lastSeen(request) ?? query.after;
      const run = await runs.readOwn(caller, params.run_id);
      const events = await runs.listEvents(run, after, eventsAtOnce);
      const last = events.at(-1)?.n ?? run.lastEvent;
      return {
        events: events.map((event) => eventRecord(event, run)),
        ...(last < run.lastEvent && { next_after: last }),
      };
    });

    route(app, operations.readTrace, ({ caller, params }) => runs.trace(caller, params.run_id));

    route(app, operations.readTraceStep, async ({ caller, params }) =>
      stepRecord(await runs.traceStep(caller, params.run_id, params.step_id)),
    );

    route(app, operations.listAllConfirmations, async ({ caller, query }) => {
      const { entries, total } = await runs.inbox(caller, query);
      return { confirmations: entries.map(inboxRecord), total, limit: query.limit, offset: query.offset };
    });

    route(app, operations.listConfirmations, async ({ caller, params }) => {
      const confirmations = await runs.confirmations(caller, params.run_id);
      return { confirmations: confirmations.map(confirmationRecord) };
    });

    route(app, operations.answerConfirmation, { unchecked: "body" }, async ({ caller, params, body }) =>
      confirmationRecord(await runs.answer(caller, params.run_id, params.confirmation_id, body)),
    );

    // Reading uses the secret up, so HEAD, which would not return it, is not served.
    route(app, operations.fetchRunSecret, { exposeHeadRoute: false }, async ({ caller, params, reply }) => {
      const secret = await runs.fetchSecret(caller, params.run_id, params.secret_id);
      reply.header("cache-control", "no-store");
      return secret;
    });
  };
}

/** Filters that both lists of runs have. */
function listQueryOf(query: QueryOf<typeof operations.listAgentRuns>): ListRunsQuery {
  const { limit, offset, status, phase, q: idPart } = query;
  const { from: createdFrom, to: createdTo } = readTimeRange(query);
  return { limit, offset, status, phase, idPart, createdFrom, createdTo };
}

function isOver({ status }: Run): boolean {
  return status === "done" || status === "error";
}

type CreateRunCall = Call<typeof operations.createRun | typeof operations.createMarketplaceRun, "body">;

async function startRun(
  runs: Runs,
  address: AgentAddress,
  { caller, body, request, reply }: Pick<CreateRunCall, "caller" | "body" | "request" | "reply">,
) {
  const idempotencyKey = checkIdempotencyKey(request.headers["idempotency-key"]);
  const { run, rate, waitMs } = await runs.create({ caller, address, body, idempotencyKey, baseUrl: request.baseUrl });
  // The caller can answer a confirmation, so one ends the wait too.
  const reached = await runs.awaitEnd(run, isOver(run) ? 0 : waitMs, clientPresence(reply), { orAsking: true });
  reply.headers(rateHeaders(rate));
  const [shown] = await runs.show(caller, [{ run: reached, as: "caller" }]);
  return runRecord(shown as ShownRun);
}

/** The event that a reconnecting browser has received last. */
function lastSeen({ headers }: FastifyRequest): number | undefined {
  const id = headers["last-event-id"];
  return id === undefined ? undefined : parseOrThrow(eventNumber, id, ["header", "last-event-id"]);
}
