import { addUsers, emptyQueue, fillQueue } from "../fill-queue.ts";
import type { Client, Dimension } from "./dimension.ts";
import { instantManifest } from "./models.ts";

const [slow, instant] = ["/api/v1/admin/slow", "/api/v1/admin/instant"];
const form = { prompt: "x" };
const users = 10;

async function accept(client: Client, model: string, more: Record<string, string> = {}): Promise<string> {
  const answer = await client.call<{ infer_details?: { request_id?: string }; request_id?: string; id?: string }>(
    "POST",
    `${model}/predict/async/`,
    { form: { ...form, ...more } },
  );
  const id = /pred_[0-9a-z]{26}/.exec(JSON.stringify(answer))?.[0];
  if (!id) throw new Error(`No id in ${JSON.stringify(answer)}`);
  return id;
}

const acceptMany = async (client: Client, count: number): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await accept(client, slow));
  return ids;
};

export const queue: Dimension = {
  name: "jobs",
  sizes: [10, 100_000],
  async fill(database, size, adminId) {
    await addUsers(database, users);
    await database.sql`
      insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, status, attempts, due_at, created_at)
      select bench.id('dlv', 1700000000000, n), ${adminId}, bench.id('pred', 1700000000000, n), 'admin/instant', 'http://127.0.0.1:9', '\\x00',
        '{}', case when n % 2 = 0 then 'pending' else 'delivered' end, 1, case when n % 2 = 0 then now() + interval '20 days' end, now()
      from generate_series(1, ${size}::int) n`;
  },
  async fillLive(client, size) {
    const { database, upstream } = client;
    await client.call("PUT", instant, { body: instantManifest(upstream.url) });
    const backend = { type: "cog", url: `${upstream.url}/slow` };
    await client.call("PUT", slow, { body: instantManifest(upstream.url, { capacity: 1, backend }) });
    const [model] = await database.sql<{ id: string }[]>`select id from models where name = 'slow' and owner = 'admin'`;
    await emptyQueue(database);
    await accept(client, slow);
    const rows = await database.sql<{ id: string }[]>`select id from users where id like 'usr_bench_%'`;
    await fillQueue(database, {
      rows: size,
      userIds: rows.map(({ id }) => id),
      model: { id: model?.id ?? "", name: "admin/slow" },
    });
  },
  operations: () => [
    { name: "accept into the long queue", run: (client) => accept(client, slow) },
    {
      name: "state of a waiting prediction",
      prepare: async (client, count) => {
        const id = await accept(client, slow);
        return Array.from({ length: count }, () => id);
      },
      run: (client, id) => client.call("GET", `${slow}/predict/async/result/?request_id=${id}`),
    },
    { name: "flow of the model", run: (client) => client.call("GET", `${slow}/flow`) },
    {
      name: "cancel a waiting prediction",
      prepare: acceptMany,
      run: (client, id) => client.call("POST", `${slow}/predict/cancel/`, { form: { prediction_id: id }, status: 499 }),
    },
    {
      name: "end one and start the next",
      run: async ({ upstream }) => {
        const next = upstream.nextRequest("/slow");
        await upstream.releaseOne();
        await next;
      },
    },
    {
      name: "queued prediction of another model",
      run: async (client) => {
        const started = client.upstream.nextRequest("/instant");
        await accept(client, instant);
        await started;
      },
    },
    { name: "predict another model", run: (client) => client.call("POST", `${instant}/predict`, { form }) },
    {
      name: "list waiting predictions of a user",
      run: (client) => client.call("GET", "/api/v2/predictions?status=waiting"),
    },
    {
      name: "queued prediction with a webhook",
      run: async (client) => {
        const sent = client.upstream.nextRequest("/ok");
        await accept(client, instant, { webhook: JSON.stringify({ url: `${client.upstream.url}/ok` }) });
        await sent;
      },
    },
    {
      name: "list webhook deliveries",
      run: (client) => client.call("GET", "/api/v2/webhooks/deliveries"),
      grows: "The total counts the user's deliveries.",
    },
    {
      name: "list pending deliveries",
      run: (client) => client.call("GET", "/api/v2/webhooks/deliveries?status=pending"),
      grows: "The total counts the user's deliveries.",
    },
    {
      name: "send a test event",
      run: (client) => client.call("POST", "/api/v2/webhooks/test", { body: { url: `${client.upstream.url}/ok` } }),
      calls: 8,
    },
    { name: "operator's overview", run: (client) => client.call("GET", "/api/v2/admin/overview") },
    { name: "metrics", run: (client) => client.call("GET", "/metrics"), grows: "Counts at most 10,000 waiting jobs." },
  ],
};
