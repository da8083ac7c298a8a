import type { Database } from "../../../apps/server/src/engines/database/index.ts";
import type { Client, Dimension } from "./dimension.ts";

const text = { type: "string" };

export const instantManifest = (upstream: string, more: object = {}): object => ({
  title: "Instant",
  description: "Answers at once.",
  kind: "other",
  visibility: "public",
  capacity: 1000,
  pricing: { per_request: 0.000001 },
  input: { type: "object", required: ["prompt"], properties: { prompt: text } },
  output: { type: "object", required: ["output"], properties: { output: text } },
  backend: { type: "cog", url: `${upstream}/instant` },
  ...more,
});

const owners = 100;
const lorem =
  "Draws pictures of lighthouses, harbours and ships in fog, with ink, oil or pencil, at any size you like. ";

/** One in ten belongs to the admin, half of them imported from a provider; the others to a hundred users. */
async function fill({ sql }: Database, size: number, adminId: string): Promise<void> {
  await sql`
    insert into users (id, username, role, plan, created_at)
    select 'usr_owner_' || n, 'owner-' || n, 'user', 'free', now() from generate_series(0, ${owners - 1}::int) n`;
  await sql`insert into wallets (user_id) select 'usr_owner_' || n from generate_series(0, ${owners - 1}::int) n`;
  const manifest = { ...instantManifest("http://127.0.0.1:9"), description: lorem.repeat(8) };
  await sql`
    with m as (
      insert into models (owner_id, owner, name, manifest, provider, upstream_id)
      select case when n % 10 = 0 then ${adminId} else 'usr_owner_' || n % ${owners} end,
        case when n % 10 = 0 then 'admin' else 'owner-' || n % ${owners} end, 'model-' || n,
        replace(${JSON.stringify(manifest)}::text, 'Instant', 'Model ' || n)::json,
        case when n % 20 = 0 then 'lab' end, case when n % 20 = 0 then 'up-' || n end
      from generate_series(0, ${size - 1}::int) n returning id
    )
    insert into model_slots (model_id) select id from m`;
  await sql`
    insert into model_aliases (owner_id, name, model)
    select ${adminId}, 'alias-' || n, 'admin/model-' || n * 10 from generate_series(0, ${Math.min(size / 10, 200)}::int - 1) n`;
}

const predict = (client: Client, model: string) =>
  client.call("POST", `/api/v1/${model}/predict`, { form: { prompt: "a lighthouse" } });
const put = (client: Client, name: string) =>
  client.call("PUT", `/api/v1/admin/${name}`, { body: instantManifest(client.upstream.url) });

const counted = "The total counts the models in an index: about 0.2 µs each.";

export const models: Dimension = {
  name: "models",
  sizes: [10, 10_000],
  fill,
  operations: (size) => [
    { name: "list, first page", run: (client) => client.call("GET", "/api/v1/?page_size=20"), grows: counted },
    {
      name: "list, last page",
      run: (client) => client.call("GET", `/api/v1/?page_size=20&page=${Math.max(1, Math.floor(size / 20))}`),
      grows: counted,
    },
    {
      name: "search by name",
      run: (client) => client.call("GET", `/api/v1/?q=model-${size - 1}`),
      grows: "A part of a title or description is searched in all models.",
    },
    { name: "list of one kind", run: (client) => client.call("GET", "/api/v1/?kind=text"), grows: counted },
    {
      name: "read",
      run: (client, _item, n) =>
        client.call(
          "GET",
          `/api/v1/owner-1/model-${(n % (size / 10)) * 10 + 1}`.replace(
            "owner-1",
            `owner-${((n % (size / 10)) * 10 + 1) % owners}`,
          ),
        ),
    },
    {
      name: "create",
      run: (client, _item, n) => put(client, `new-${n}`),
    },
    { name: "replace", run: (client) => put(client, "new-0") },
    { name: "predict", run: (client) => predict(client, "admin/new-0") },
    {
      name: "predict, a model not seen before",
      prepare: async (client, count) => {
        const names = Array.from({ length: count }, (_, n) => `first-${n}`);
        for (const name of names) await put(client, name);
        return names;
      },
      run: (client, name) => predict(client, `admin/${name}`),
    },
    { name: "delete", run: (client, _item, n) => client.call("DELETE", `/api/v1/admin/new-${n + 1}`), calls: 15 },
    {
      name: "OpenAI list of models",
      run: (client) => client.call("GET", "/v1/models"),
      grows: "OpenAI clients expect one list without pages.",
    },
    { name: "OpenAI, one model", run: (client) => client.call("GET", "/v1/models/alias-0") },
    { name: "list aliases", run: (client) => client.call("GET", "/api/v2/aliases") },
    {
      name: "set an alias",
      run: (client) => client.call("PUT", "/api/v2/aliases/mine", { body: { model: "admin/new-0" } }),
    },
    {
      name: "list providers",
      prepare: async (client, count) => {
        client.upstream.models.splice(
          0,
          client.upstream.models.length,
          ...Array.from({ length: 20 }, (_, n) => `up-${n * 20}`),
        );
        const url = `${client.upstream.url}/v1`;
        await client.call("PUT", "/api/v2/admin/providers/lab", { body: { type: "openai-compatible", url } });
        return Array.from({ length: count }, () => "lab");
      },
      run: (client) => client.call("GET", "/api/v2/admin/providers"),
    },
    {
      name: "import one model",
      run: (client, _item, n) =>
        client.call("POST", "/api/v2/admin/providers/lab/import", {
          body: { models: [{ id: "up-0", name: `got-${n}` }] },
        }),
    },
    {
      name: "operator's overview",
      run: (client) => client.call("GET", "/api/v2/admin/overview"),
      grows: "Counts all models.",
    },
    { name: "metrics", run: (client) => client.call("GET", "/metrics"), grows: "Adds up one row for each model." },
  ],
};
