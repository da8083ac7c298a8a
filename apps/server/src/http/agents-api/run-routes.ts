import { runStatuses } from "@gantry/wire";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AgentAddress } from "../../features/agents/index.ts";
import { checkIdempotencyKey, rateHeaders } from "../../features/predictions/index.ts";
import type { Run, Runs } from "../../features/runs/index.ts";
import { fault } from "../../kernel/errors.ts";
import { clientPresence } from "../model-api/client-presence.ts";
import type { AgentsRoutes, CallerOf } from "./agents-api.ts";
import { ListQuery } from "./list-query.ts";
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
      const { limit, offset, status } = readRunsQuery(request);
      const caller = await callerOf(request);
      const { entries, total } = await runs.listOfAgent(caller, request.params.agentId, { limit, offset, status });
      return { runs: entries.map(runRecord), total, limit, offset };
    });

    app.get("/runs", async (request) => {
      const query = readRunsQuery(request);
      const { entries, total } = await runs.listOwn(await callerOf(request), query);
      return { runs: entries.map(runRecord), total, limit: query.limit, offset: query.offset };
    });

    app.get<OfRun>("/runs/:runId", async (request, reply) => {
      const waitMs = readWait(request);
      const seen = await runs.read(await callerOf(request), request.params.runId);
      const run = await runs.awaitEnd(seen.run, isOver(seen.run) ? 0 : waitMs, clientPresence(reply));
      return runRecord({ ...seen, run });
    });

    app.post<OfRun>("/runs/:runId/cancel", async (request) => {
      const run = await runs.cancel(await callerOf(request), request.params.runId);
      return runRecord({ run, as: "caller" });
    });

    app.get<OfRun>("/runs/:runId/events", async (request, reply) => {
      const run = await runs.readOwn(await callerOf(request), request.params.runId);
      await streamRunEvents({ runs, keys }, run, readAfter(request), reply);
    });

    app.get<OfRun>("/runs/:runId/events/list", async (request) => {
      const run = await runs.readOwn(await callerOf(request), request.params.runId);
      const events = await runs.listEvents(run, readAfter(request), eventsAtOnce);
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

function readRunsQuery(request: FastifyRequest) {
  const query = new ListQuery(request.query);
  const read = {
    ...query.range(),
    status: query.oneOf("status", runStatuses),
    parentId: query.text("parent_run_id"),
  };
  query.done();
  return read;
}

const longestWaitSeconds = 60;

function readWait(request: FastifyRequest): number {
  const { wait } = request.query as { wait?: unknown };
  if (wait === undefined) return 0;
  const seconds = typeof wait === "string" && wait.trim() !== "" ? Number(wait) : Number.NaN;
  if (seconds >= 0 && seconds <= longestWaitSeconds) return seconds * 1000;
  throw fault("value_error", `Must be a number of seconds from 0 to ${longestWaitSeconds}`, { loc: ["query", "wait"] });
}

/** Where a reader was: the header of a browser that connects again, or the parameter. */
function readAfter(request: FastifyRequest): number {
  const { after } = request.query as { after?: unknown };
  const header = request.headers["last-event-id"];
  const given = header ?? after;
  if (given === undefined || given === "") return 0;
  if (typeof given === "string" && /^\d{1,9}$/.test(given)) return Number(given);
  const loc = header === undefined ? ["query", "after"] : ["header", "last-event-id"];
  throw fault("int_parsing", "Must be the number of an event", { loc });
}
