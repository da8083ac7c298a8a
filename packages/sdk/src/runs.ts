import type { ConfirmationRecord, CreateRunBody, RunRecord, RunStatus } from "@gantry/wire";
import { segment, withQuery } from "./address.ts";
import type { ListRange } from "./agents.ts";
import { randomText } from "./form.ts";
import { pause } from "./pause.ts";
import { type FollowOptions, type RunEvent, runEvents } from "./run-events.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface RunList {
  runs: RunRecord[];
  total: number;
  limit: number;
  offset: number;
}

export interface Confirmations {
  /** What a run has asked, answered or not. */
  list(runId: string, options?: CallOptions): Promise<ConfirmationRecord[]>;
  /** Each question can be answered once. */
  approve(
    runId: string,
    confirmationId: string,
    options?: { reason?: string } & CallOptions,
  ): Promise<ConfirmationRecord>;
  deny(runId: string, confirmationId: string, options?: { reason?: string } & CallOptions): Promise<ConfirmationRecord>;
}

/** The agents platform is a preview. */
export interface Runs {
  /**
   * Starts a run of an agent, by its id or as `creator/slug`. `wait` in the body holds the answer up to 60 seconds until
   * it has ended. Without an `idempotencyKey` it gets one, so that a lost answer starts no second run.
   */
  create(agent: string, body: CreateRunBody, options?: { idempotencyKey?: string } & CallOptions): Promise<RunRecord>;
  get(id: string, options?: { wait?: number } & CallOptions): Promise<RunRecord>;
  /** Of one agent, or all of the caller; newest first. */
  list(
    options?: ListRange & { agent_id?: string; status?: RunStatus; parent_run_id?: string } & CallOptions,
  ): Promise<RunList>;
  /** Ends it, and all that it started; what has ended stays as it is. */
  cancel(id: string, options?: CallOptions): Promise<RunRecord>;
  /** Waits for the end, also past questions that somebody has to answer. Whether it is `done` or `error`, it is returned. */
  waitFor(id: string, options?: CallOptions): Promise<RunRecord>;
  /** What it did and does, to its end. Leaving the loop stops nothing; a connection that breaks is taken up again. */
  events(id: string, options?: FollowOptions): AsyncGenerator<RunEvent>;
  confirmations: Confirmations;
}

const longPollSeconds = 30;
/** A service that is going down answers at once. */
const betweenPollsMs = 200;

export function runs(transport: Transport): Runs {
  const { json, retries } = transport;
  const at = (id: string) => `/v1/runs/${segment(id)}`;
  const all: Runs = {
    async create(agent, body, { idempotencyKey, signal } = {}) {
      const path = `/v1/agents/${agent.split("/").map(segment).join("/")}/runs`;
      const key = idempotencyKey ?? (retries > 0 ? randomText() : undefined);
      return json({ method: "POST", path, json: body, idempotencyKey: key, signal });
    },
    get: async (id, { signal, ...query } = {}) => json({ method: "GET", path: withQuery(at(id), query), signal }),
    async list({ agent_id, signal, ...query } = {}) {
      const path = agent_id === undefined ? "/v1/runs" : `/v1/agents/${segment(agent_id)}/runs`;
      return json({ method: "GET", path: withQuery(path, query), signal });
    },
    cancel: async (id, { signal } = {}) => json({ method: "POST", path: `${at(id)}/cancel`, signal }),
    async waitFor(id, { signal } = {}) {
      for (;;) {
        const run = await all.get(id, { wait: longPollSeconds, signal });
        if (run.status === "done" || run.status === "error") return run;
        await pause(betweenPollsMs, signal);
      }
    },
    events: (id, options) => runEvents(transport, id, options),
    confirmations: confirmations(transport),
  };
  return all;
}

function confirmations({ json }: Transport): Confirmations {
  const at = (runId: string) => `/v1/runs/${segment(runId)}/confirmations`;
  const answer =
    (approve: boolean): Confirmations["approve"] =>
    async (runId, id, { signal, ...given } = {}) =>
      json({ method: "POST", path: `${at(runId)}/${segment(id)}`, json: { approve, ...given }, signal });
  return {
    async list(runId, { signal } = {}) {
      const path = at(runId);
      return (await json<{ confirmations: ConfirmationRecord[] }>({ method: "GET", path, signal })).confirmations;
    },
    approve: answer(true),
    deny: answer(false),
  };
}
