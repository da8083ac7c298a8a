import { agentRunsQuery, eventNumber, eventsQuery, liveEventsQuery, runQuery, runsQuery } from "@gantry/wire";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AgentAddress } from "../../features/agents/index.ts";
import { checkIdempotencyKey, rateHeaders } from "../../features/predictions/index.ts";
import type { Run, Runs } from "../../features/runs/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { clientPresence } from "../model-api/client-presence.ts";
import type { AgentsRoutes, CallerOf } from "./agents-api.ts";
import { confirmationRecord, eventRecord, runRecord } from "./run-records.ts";
import { streamRunEvents } from "./run-stream.ts";
import { createStreamKeys } from "./run-stream-keys.ts";

interface OfRun {
  Params: { runId: string };
}

const eventsAtOnce = 1000;

/** Runs: starting them, reading them, following them, answering their questions. */
export function runRoutes(runs: Runs): AgentsRoutes {
  const keys = createStreamKeys();
  return (app, callerOf) => {
    app.post<{ Params: { agentId: string } }>("/agents/:agentId/runs", (request, reply) =>
      startRun(runs, callerOf, { agentId: request.params.agentId }, request, reply),
    );

    app.post<{ Params: { agentId: string; slug: string } }>("/agents/:agentId/:slug/runs", (request, reply) => {
      const { agentId: creator, slug } = request.params;
      return startRun(runs, callerOf, { creator, slug }, request, reply);
    });

    app.get<{ Params: { agentId: string } }>("/agents/:agentId/runs", async (request) => {
      const { limit, offset, status } = parseOrThrow(agentRunsQuery, request.query, ["query"]);
      const caller = await callerOf(request);
      const { entries, total } = await runs.listOfAgent(caller, request.params.agentId, { limit, offset, status });
      return { runs: entries.map(runRecord), total, limit, offset };
    });

    app.get("/runs", async (request) => {
      const { parent_run_id: parentId, ...query } = parseOrThrow(runsQuery, request.query, ["query"]);
      const { entries, total } = await runs.listOwn(await callerOf(request), { ...query, parentId });
      return { runs: entries.map(runRecord), total, limit: query.limit, offset: query.offset };
    });

    app.get<OfRun>("/runs/:runId", async (request, reply) => {
      const { wait } = parseOrThrow(runQuery, request.query, ["query"]);
      const seen = await runs.read(await callerOf(request), request.params.runId);
      const run = await runs.awaitEnd(seen.run, isOver(seen.run) ? 0 : wait * 1000, clientPresence(reply));
      return runRecord({ ...seen, run });
    });

    app.post<OfRun>("/runs/:runId/cancel", async (request) => {
      const run = await runs.cancel(await callerOf(request), request.params.runId);
      return runRecord({ run, as: "caller" });
    });

    app.get<OfRun>("/runs/:runId/events", async (request, reply) => {
      const after = readAfter(liveEventsQuery, request);
      const run = await runs.readOwn(await callerOf(request), request.params.runId);
      await streamRunEvents({ runs, keys }, run, after, reply);
    });

    app.get<OfRun>("/runs/:runId/events/list", async (request) => {
      const after = readAfter(eventsQuery, request);
      const run = await runs.readOwn(await callerOf(request), request.params.runId);
      const events = await runs.listEvents(run, after, eventsAtOnce);
      const last = events.at(-1)?.n ?? run.lastEvent;
      return {
        events: events.map((event) => eventRecord(event, run)),
        // Only a run that takes very many steps has more than one answer holds.
        ...(last < run.lastEvent && { next_after: last }),
      };
    });

    app.get<OfRun>("/runs/:runId/confirmations", async (request) => {
      const confirmations = await runs.confirmations(await callerOf(request), request.params.runId);
      return { confirmations: confirmations.map(confirmationRecord) };
    });

    app.post<{ Params: { runId: string; confirmationId: string } }>(
      "/runs/:runId/confirmations/:confirmationId",
      async (request) => {
        const { runId, confirmationId } = request.params;
        return confirmationRecord(await runs.answer(await callerOf(request), runId, confirmationId, request.body));
      },
    );

    app.get<{ Params: { runId: string; secretId: string } }>(
      "/runs/:runId/secrets/:secretId",
      // Reading it uses it up, and who asks for the headers alone would not get it.
      { exposeHeadRoute: false },
      async (request, reply) => {
        const { runId, secretId } = request.params;
        const secret = await runs.fetchSecret(await callerOf(request), runId, secretId);
        return reply.header("cache-control", "no-store").send(secret);
      },
    );
  };
}

function isOver({ status }: Run): boolean {
  return status === "done" || status === "error";
}

async function startRun(
  runs: Runs,
  callerOf: CallerOf,
  address: AgentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = await callerOf(request);
  const idempotencyKey = checkIdempotencyKey(request.headers["idempotency-key"]);
  const { body, baseUrl } = request;
  const { run, rate, waitMs } = await runs.create({ caller, address, body, idempotencyKey, baseUrl });
  // Who starts it is who can answer what it asks.
  const reached = await runs.awaitEnd(run, isOver(run) ? 0 : waitMs, clientPresence(reply), { orAsking: true });
  return reply
    .code(201)
    .headers(rateHeaders(rate))
    .send(runRecord({ run: reached, as: "caller" }));
}

/** Where a reader was: the header of a browser that connects again, or the parameter. */
function readAfter(known: typeof eventsQuery | typeof liveEventsQuery, { query, headers }: FastifyRequest): number {
  const { after } = parseOrThrow(known, query, ["query"]);
  const seen = headers["last-event-id"];
  return seen === undefined ? after : parseOrThrow(eventNumber, seen, ["header", "last-event-id"]);
}
