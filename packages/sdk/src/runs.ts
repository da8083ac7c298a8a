import type {
  ConfirmationRecord,
  CreateRunBody,
  RunEventList,
  RunPhase,
  RunRecord,
  RunSecretRecord,
  RunStatus,
  RunTrace,
  TraceStepDetail,
} from "@gantry/wire";
import { at } from "./address.ts";
import { randomText } from "./form.ts";
import { eachListed, type ListRange, type TimeRange } from "./pages.ts";
import { lookUntil } from "./resume.ts";
import {
  type FollowOptions,
  type FollowTextOptions,
  type RunEvent,
  type RunTextEvent,
  runEvents,
} from "./run-events.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface RunList {
  runs: RunRecord[];
  total: number;
  limit: number;
  offset: number;
}

interface AnyRunFilter extends TimeRange {
  status?: RunStatus | undefined;
  /** With `awaiting_confirmation`: runs that wait for your answer. */
  phase?: RunPhase | undefined;
  /** Part of the id. */
  q?: string | undefined;
}

/**
 * Runs of one agent, child runs of one run, or all your runs. Filtering by both is not possible. For your own agent,
 * `agent_id` lists the runs of all users; with `mine`, only those that you started.
 */
export type RunFilter = AnyRunFilter &
  (
    | { agent_id?: string | undefined; mine?: boolean | undefined; parent_run_id?: undefined }
    | {
        agent_id?: undefined;
        mine?: boolean | undefined;
        parent_run_id?: string | undefined;
        /** Your runs of this thread. */
        thread_id?: string | undefined;
      }
  );

export interface Confirmations {
  /** All confirmations of a run, answered or not. */
  list(runId: string, options?: CallOptions): Promise<ConfirmationRecord[]>;
  /** Each confirmation can be answered once. */
  approve(
    runId: string,
    confirmationId: string,
    options?: { reason?: string | undefined } & CallOptions,
  ): Promise<ConfirmationRecord>;
  deny(
    runId: string,
    confirmationId: string,
    options?: { reason?: string | undefined } & CallOptions,
  ): Promise<ConfirmationRecord>;
}

/** The agents platform is a preview. */
export interface Runs {
  /**
   * Starts a run of an agent, by its id or `creator/slug`. `wait` in the body waits up to 60 seconds for its end or a
   * confirmation. Without an `idempotencyKey` one is generated, so that a retry does not start a second run.
   */
  create(
    agent: string,
    body: CreateRunBody,
    options?: { idempotencyKey?: string | undefined } & CallOptions,
  ): Promise<RunRecord>;
  get(id: string, options?: { wait?: number | undefined } & CallOptions): Promise<RunRecord>;
  /** One page, newest first. */
  list(options?: RunFilter & ListRange & CallOptions): Promise<RunList>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: RunFilter & CallOptions): AsyncGenerator<RunRecord>;
  /** Cancels a run and its descendants; a run that has ended does not change. */
  cancel(id: string, options?: CallOptions): Promise<RunRecord>;
  /**
   * Waits for the end, also across confirmations and a restart of the service of up to two minutes. Returns the run,
   * `done` or `error`.
   */
  waitFor(id: string, options?: CallOptions): Promise<RunRecord>;
  /**
   * Events of the run until its end. Leaving the loop does not cancel it; a lost connection is resumed. With `text`, also
   * the text of model calls as it is written; the trace has the whole text when a call has ended.
   */
  events(id: string, options?: FollowOptions): AsyncGenerator<RunEvent>;
  events(id: string, options: FollowTextOptions): AsyncGenerator<RunEvent | RunTextEvent>;
  /** Model calls, tool calls, sub-agents and waits, with times, tokens and cost. */
  trace(id: string, options?: CallOptions): Promise<RunTrace>;
  traceStep(id: string, stepId: string, options?: CallOptions): Promise<TraceStepDetail>;
  /** Events so far, with times. Continue a very long list with `next_after`. */
  listEvents(id: string, options?: { after?: number | undefined } & CallOptions): Promise<RunEventList>;
  confirmations: Confirmations;
  /** Fetches a secret named in a `tool_result`, once, within a day. */
  takeSecret(id: string, secretId: string, options?: CallOptions): Promise<RunSecretRecord>;
}

const longPollSeconds = 30;

export function runs(transport: Transport): Runs {
  const { json, retries } = transport;
  const all: Runs = {
    async create(agent, body, { idempotencyKey, signal } = {}) {
      const [name = "", ...slug] = agent.split("/");
      const to =
        slug.length === 0
          ? at("POST /v1/agents/{agent_id}/runs", { agent_id: name })
          : at("POST /v1/agents/{creator_username}/{agent_slug}/runs", {
              creator_username: name,
              agent_slug: slug.join("/"),
            });
      const key = idempotencyKey ?? (retries > 0 ? randomText() : undefined);
      return json({ ...to, json: body, idempotencyKey: key, signal });
    },
    get: async (run_id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/runs/{run_id}", { run_id }), query, signal }),
    async list({ agent_id, mine = false, signal, ...query } = {}) {
      if (agent_id !== undefined && query.parent_run_id !== undefined) {
        throw new TypeError("Filter runs by agent_id or parent_run_id, not by both");
      }
      if (agent_id === undefined || mine) return json({ ...at("GET /v1/runs"), query: { ...query, agent_id }, signal });
      return json({ ...at("GET /v1/agents/{agent_id}/runs", { agent_id }), query, signal });
    },
    each: (options) =>
      eachListed(
        async (range) => {
          const { runs: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    cancel: async (run_id, { signal } = {}) => json({ ...at("POST /v1/runs/{run_id}/cancel", { run_id }), signal }),
    async waitFor(id, { signal } = {}) {
      const look = () => all.get(id, { wait: longPollSeconds, signal });
      const isEnd = ({ status }: RunRecord) => status === "done" || status === "error";
      return lookUntil(look, { isEnd, patient: retries > 0, signal });
    },
    events: (id: string, options?: FollowOptions | FollowTextOptions) =>
      runEvents(transport, id, options) as AsyncGenerator<RunEvent>,
    trace: async (run_id, { signal } = {}) => json({ ...at("GET /v1/runs/{run_id}/trace", { run_id }), signal }),
    traceStep: async (run_id, step_id, { signal } = {}) =>
      json({ ...at("GET /v1/runs/{run_id}/trace/{step_id}", { run_id, step_id }), signal }),
    listEvents: async (run_id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/runs/{run_id}/events/list", { run_id }), query, signal }),
    confirmations: confirmations(transport),
    // Reading uses the secret up: a retry would answer 404 and hide the lost response.
    takeSecret: async (run_id, secret_id, { signal } = {}) =>
      json({ ...at("GET /v1/runs/{run_id}/secrets/{secret_id}", { run_id, secret_id }), signal, retries: 0 }),
  };
  return all;
}

function confirmations({ json }: Transport): Confirmations {
  const answer =
    (approve: boolean): Confirmations["approve"] =>
    async (run_id, confirmation_id, { signal, ...given } = {}) =>
      json({
        ...at("POST /v1/runs/{run_id}/confirmations/{confirmation_id}", { run_id, confirmation_id }),
        json: { approve, ...given },
        signal,
      });
  return {
    async list(run_id, { signal } = {}) {
      const to = at("GET /v1/runs/{run_id}/confirmations", { run_id });
      return (await json<{ confirmations: ConfirmationRecord[] }>({ ...to, signal })).confirmations;
    },
    approve: answer(true),
    deny: answer(false),
  };
}
