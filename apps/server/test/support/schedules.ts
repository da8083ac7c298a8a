import { expect } from "vitest";
import type { Answer, GantryUnderTest } from "./gantry.ts";
import { waitFor } from "./wait-for.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Json = any;

/** Calls and clock moves that tests of schedules share. */
export function schedulesOf(gantry: () => GantryUnderTest) {
  const sql: GantryUnderTest["database"]["sql"] = ((...args: Parameters<GantryUnderTest["database"]["sql"]>) =>
    gantry().database.sql(...args)) as never;

  const ask = (method: string, path: string, key?: string, json?: unknown): Promise<Answer> =>
    gantry().call(method, path, { ...(key !== undefined && { key }), ...(json !== undefined && { json }) });

  const all = {
    ask,
    async create(agentId: string, body: object = {}, key?: string): Promise<Json> {
      const json = { cron: "0 0 1 1 *", input: {}, ...body };
      const answer = await ask("POST", `/v1/agents/${agentId}/schedules`, key, json);
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    },
    async read(id: string, key?: string): Promise<Json> {
      const answer = await ask("GET", `/v1/schedules/${id}`, key);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    },
    async change(id: string, json: object, key?: string): Promise<Json> {
      const answer = await ask("PATCH", `/v1/schedules/${id}`, key, json);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    },
    /** Moves the due times of schedules, as if the time until then had passed. Returns the new due time. */
    async makeDue(ids: string | readonly string[], agoSeconds = 0): Promise<Date> {
      const [row] = await sql<
        [{ due: Date }]
      >`select date_trunc('minute', now()) - ${agoSeconds} * interval '1 second' as due`;
      await sql`
        update schedules set next_at = ${row.due}, upcoming = array[${row.due}::timestamptz], look_at = now()
        where id = any(${[ids].flat()}::text[])`;
      return row.due;
    },
    /** Runs of a schedule, oldest first. */
    async runsOf(id: string): Promise<{ id: string; status: string; sequence: string | null; keyId: string }[]> {
      return sql`select id, status, sequence, key_id as "keyId" from runs where source_id = ${id} order by id`;
    },
    /** Until the due time has been handled. */
    async settled(id: string, key?: string): Promise<Json> {
      await waitFor("the due time to be handled", async () => {
        const [row] = await sql<[{ open: boolean }]>`
          select look_at is not null and (next_at is null or next_at <= now()) as open from schedules where id = ${id}`;
        return !row.open;
      });
      return all.read(id, key);
    },
  };
  return all;
}
