import type { Database } from "../../../apps/server/src/engines/database/index.ts";
import type { Client, Dimension } from "./dimension.ts";

const eventsOfTurn = 100;
const ids = { talker: "", asker: "", turn: "", long: "", live: "" };
const text = { type: "string" };

/** Numbers of turns in the long thread, and of steps in the long run. */
const turnsOf = (size: number): number => Math.max(1, size / eventsOfTurn);

/** Copies of a run, older than it. */
async function copyRun(
  { sql }: Database,
  id: string,
  { count, thread }: { count: number; thread: string },
): Promise<void> {
  await sql`
    insert into runs
    select (jsonb_populate_record(r, jsonb_build_object('id', bench.id('run', ms, c.n), 'thread_id', ${thread}::text,
      'created_at', to_timestamp(ms / 1000.0), 'started_at', to_timestamp(ms / 1000.0),
      'completed_at', to_timestamp(ms / 1000.0)))).*
    from runs r, generate_series(1::bigint, ${count}::bigint) c (n)
    cross join lateral (select floor(extract(epoch from now()) * 1000)::bigint - 86400000 + c.n * 1000 as ms) t
    where r.id = ${id}`;
  await sql`
    update threads t set runs = c.n, last_run_id = c.last
    from (select count(*)::int as n, max(id) as last from runs where thread_id = ${thread}) c where t.id = ${thread}`;
}

/** Copies the first event up to that number. The last event stays the last one. */
async function addEvents({ sql }: Database, id: string, size: number): Promise<void> {
  await sql`
    update run_events e set n = ${size} from runs r where r.id = ${id} and e.run_id = r.id and e.n = r.last_event`;
  await sql`
    insert into run_events (run_id, n, type, data)
    select e.run_id, added.n, e.type, e.data
    from (select * from run_events where run_id = ${id} order by n limit 1) e,
      generate_series((select last_event from runs where id = ${id}), ${size}::int - 1) added (n)`;
  await sql`update runs set last_event = ${size}::int where id = ${id}`;
}

async function addSteps({ sql }: Database, id: string, count: number): Promise<void> {
  await sql`
    insert into run_steps
    select (jsonb_populate_record(s, jsonb_build_object('n', added.n))).*
    from run_steps s, generate_series(s.n + 1, ${count}::int) added (n)
    where s.run_id = ${id} and s.n = (select max(n) from run_steps where run_id = ${id})`;
  await sql`update runs set steps = greatest(steps, ${count}::int) where id = ${id}`;
}

const run = (client: Client, agent: string, more: object = {}) =>
  client.call<{ id: string; status: string }>("POST", `/v1/agents/${agent}/runs`, {
    body: { input: {}, wait: 60, ...more },
  });

async function pendingConfirmation(client: Client): Promise<string> {
  for (;;) {
    const { confirmations } = await client.call<{ confirmations: { id: string; status: string }[] }>(
      "GET",
      `/v1/runs/${ids.live}/confirmations`,
    );
    const pending = confirmations.find(({ status }) => status === "pending");
    if (pending) return pending.id;
  }
}

export const runs: Dimension = {
  name: "events",
  sizes: [100, 100_000],
  fill: async () => undefined,
  async fillLive(client, size) {
    const { database, upstream } = client;
    await database.sql`truncate runs, run_events, run_steps, run_calls, run_confirmations, threads cascade`;
    await client.call("PUT", "/api/v1/admin/chat", {
      body: {
        title: "Chat",
        kind: "text",
        capacity: 100,
        input: { type: "object", properties: { prompt: text }, required: ["prompt"] },
        output: { type: "object", properties: { output: { ...text, isStream: true } } },
        backend: { type: "openai-chat", url: `${upstream.url}/v1`, model: "m" },
      },
    });
    const agent = async (tools: unknown[]) => {
      const body = { name: `Agent ${Date.now()}`, goal: "Answer.", model: "admin/chat", tools };
      const { id } = await client.call<{ id: string }>("POST", "/v1/agents", { body });
      await client.call("POST", `/v1/agents/${id}/publish`, { body: {} });
      return id;
    };
    ids.talker = await agent([]);
    ids.asker = await agent([{ type: "tool", id: "http_request", confirm: "always" }]);
    for (const thread of ["long", "doomed"]) {
      ids.turn = (await run(client, ids.talker, { thread_id: thread })).id;
      await copyRun(database, ids.turn, { count: turnsOf(size), thread });
    }
    ids.long = (await run(client, ids.talker)).id;
    await addEvents(database, ids.long, size);
    await addSteps(database, ids.long, turnsOf(size));
    ids.live = (await run(client, ids.asker, { max_steps: 1000 })).id;
    await addEvents(database, ids.live, size);
    await database.sql.unsafe("vacuum analyze runs, run_events, run_steps, threads");
  },
  operations: (size) => [
    { name: "run of one step", run: (client) => run(client, ids.talker) },
    {
      name: "answer a confirmation, next step, next confirmation",
      calls: 20,
      run: async (client) => {
        const answered = client.upstream.nextRequest("/v1");
        const id = await pendingConfirmation(client);
        await client.call("POST", `/v1/runs/${ids.live}/confirmations/${id}`, { body: { approve: true } });
        await answered;
        await pendingConfirmation(client);
      },
    },
    { name: "read events from the start", run: (client) => client.call("GET", `/v1/runs/${ids.long}/events/list`) },
    {
      name: "read the last events",
      run: (client) => client.call("GET", `/v1/runs/${ids.long}/events/list?after=${size - 20}`),
    },
    {
      name: "follow from an event near the end",
      run: (client) => client.call("GET", `/v1/runs/${ids.long}/events?after=${size - 20}`),
    },
    {
      name: "follow from the start to the end",
      calls: 5,
      run: (client) => client.call("GET", `/v1/runs/${ids.long}/events`),
      grows: "All events are sent.",
    },
    { name: "show a run", run: (client) => client.call("GET", `/v1/runs/${ids.long}`) },
    {
      name: "trace",
      run: (client) => client.call("GET", `/v1/runs/${ids.long}/trace`),
      grows: "A trace is one list of at most 2,000 steps.",
    },
    {
      name: "one step of a trace",
      prepare: async (client, count) => {
        const { steps } = await client.call<{ steps: { id: string; kind: string }[] }>(
          "GET",
          `/v1/runs/${ids.long}/trace`,
        );
        const step = steps.findLast(({ kind }) => kind === "model")?.id ?? "";
        return Array.from({ length: count }, () => step);
      },
      run: (client, step) => client.call("GET", `/v1/runs/${ids.long}/trace/${step}`),
      grows: "Shows what the model was sent: all calls of the run.",
    },
    { name: "list runs", run: (client) => client.call("GET", "/v1/runs"), grows: "The total counts the user's runs." },
    {
      name: "list runs of an agent",
      run: (client) => client.call("GET", `/v1/agents/${ids.talker}/runs`),
      grows: "The total counts the agent's runs.",
    },
    {
      name: "list runs of a thread",
      run: (client) => client.call("GET", "/v1/runs?thread_id=long"),
      grows: "The total counts the thread's runs.",
    },
    { name: "list agents", run: (client) => client.call("GET", "/v1/agents") },
    { name: "list threads", run: (client) => client.call("GET", "/v1/threads") },
    {
      name: "read a thread",
      run: (client) => client.call("GET", "/v1/threads/long"),
      grows: "A page has at most 100 turns.",
    },
    {
      name: "next turn of a thread",
      calls: 15,
      run: (client) => run(client, ids.talker, { thread_id: "long" }),
      grows: "The model reads at most 1,000 earlier turns.",
    },
    {
      name: "delete a thread",
      calls: 1,
      run: (client) => client.call("DELETE", "/v1/threads/doomed"),
      grows: "All runs of the thread are deleted.",
    },
  ],
};
