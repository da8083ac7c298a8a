import type { ChangeScheduleBody, CreateScheduleBody, RunRecord, ScheduleRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { randomText } from "./form.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ScheduleList {
  schedules: ScheduleRecord[];
  total: number;
  limit: number;
  offset: number;
}

/** Runs of agents at given times. The agents platform is a preview. */
export interface Schedules {
  /** Runs use the key of this client. */
  create(agentId: string, schedule: CreateScheduleBody, options?: CallOptions): Promise<ScheduleRecord>;
  get(id: string, options?: CallOptions): Promise<ScheduleRecord>;
  /** One page, newest first. */
  list(options?: ListRange & { agent_id?: string | undefined } & CallOptions): Promise<ScheduleList>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: { agent_id?: string | undefined } & CallOptions): AsyncGenerator<ScheduleRecord>;
  /** Send only the fields to change; `enabled: true` ends a pause. Later runs use the key of this client. */
  update(id: string, change: ChangeScheduleBody, options?: CallOptions): Promise<ScheduleRecord>;
  /** Runs of the schedule stay. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Creates a run now. Without an `idempotencyKey` one is generated, so that a retry does not start a second run. */
  run(id: string, options?: { idempotencyKey?: string | undefined } & CallOptions): Promise<RunRecord>;
}

export function schedules({ json, send, retries }: Transport): Schedules {
  const one = (id: string) => ({ schedule_id: id });
  const all: Schedules = {
    create: async (agent_id, schedule, { signal } = {}) =>
      json({ ...at("POST /v1/agents/{agent_id}/schedules", { agent_id }), json: schedule, signal }),
    get: async (id, { signal } = {}) => json({ ...at("GET /v1/schedules/{schedule_id}", one(id)), signal }),
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/schedules"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { schedules: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    update: async (id, change, { signal } = {}) =>
      json({ ...at("PATCH /v1/schedules/{schedule_id}", one(id)), json: change, signal }),
    async delete(id, { signal } = {}) {
      await send({ ...at("DELETE /v1/schedules/{schedule_id}", one(id)), signal });
    },
    run: async (id, { idempotencyKey, signal } = {}) =>
      json({
        ...at("POST /v1/schedules/{schedule_id}/run", one(id)),
        idempotencyKey: idempotencyKey ?? (retries > 0 ? randomText() : undefined),
        signal,
      }),
  };
  return all;
}
