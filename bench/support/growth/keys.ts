import type { Database } from "../../../apps/server/src/engines/database/index.ts";
import type { Client, Dimension } from "./dimension.ts";
import { instantManifest } from "./models.ts";

const keysOfUser = 10;
const publicOf = (n: number): string => String(n).padStart(12, "0");
const keyOf = (n: number): string => `gk_${publicOf(n)}_bench`;

/** Nine of ten keys belong to users with nine keys each, the others to one user with a key for each of its customers. */
async function fill({ sql }: Database, size: number): Promise<void> {
  const users = Math.max(1, size / keysOfUser);
  await sql`
    with u as (
      insert into users (id, username, role, plan, created_at)
      select bench.id('usr', 1700000000000, n), case n when 0 then 'service' else 'user-' || n end, 'user', 'free', now()
      from generate_series(0, ${users}::int) n returning id
    )
    insert into wallets (user_id, balance_micros) select id, 0 from u`;
  await sql`
    insert into api_keys (id, user_id, public, secret_hash, name, models, monthly_limit_micros, created_at)
    select bench.id('key', 1700000000000, n),
      bench.id('usr', 1700000000000, case when n % 10 = 0 then 0 else 1 + n / ${keysOfUser} end),
      lpad(n::text, 12, '0'), sha256(convert_to('gk_' || lpad(n::text, 12, '0') || '_bench', 'UTF8')), 'key ' || n,
      case when n % 100 = 7 then array['admin/instant'] end, case when n % 100 = 7 then 100000000 end, now()
    from generate_series(0, ${size - 1}::int) n`;
}

const countedUsers = "The total counts the users, the sums read their wallets.";

/** Numbers of keys of users, spread over all of them. */
const spread = (size: number, n: number): number => Math.floor((n * 7919 * keysOfUser) % size) + 1;

export const keys: Dimension = {
  name: "keys",
  sizes: [10, 1_000_000],
  fill,
  startGrows: "The start reads the wallets once.",
  async fillLive(client) {
    await client.call("PUT", "/api/v1/admin/instant", { body: instantManifest(client.upstream.url) });
    await client.call("PUT", "/api/v2/admin/plans/free", { body: { requests_per_minute: null, parallel: null } });
    await client.call("POST", "/api/v2/admin/users/user-1/credits", { body: { amount: 100, reason: "benchmark" } });
  },
  operations: (size) => {
    const asUser = { key: keyOf(1) };
    const asService = { key: keyOf(0) };
    const createKeys = (options: object) => (client: Client, count: number) =>
      Promise.all(
        Array.from(
          { length: count },
          async () =>
            (await client.call<{ id: string }>("POST", "/api/v2/keys", { ...options, body: { name: "new" } })).id,
        ),
      );
    return [
      {
        name: "authenticate, a key not seen before",
        run: (client, _item, n) => client.call("GET", "/api/v2/me", { key: keyOf(spread(size, n)) }),
      },
      { name: "authenticate, a cached key", run: (client) => client.call("GET", "/api/v2/me", asUser) },
      {
        name: "refuse an unknown key",
        run: (client, _item, n) => client.call("GET", "/api/v2/me", { key: `gk_${publicOf(n)}_wrong`, status: 401 }),
      },
      {
        name: "predict with a key",
        run: (client) => client.call("POST", "/api/v1/admin/instant/predict", { ...asUser, form: { prompt: "x" } }),
      },
      {
        name: "predict with a confined key",
        prepare: async (client, count) => {
          const body = { name: "confined", models: ["admin/instant"], monthly_limit: 50 };
          const { key } = await client.call<{ key: string }>("POST", "/api/v2/keys", { ...asUser, body });
          return Array.from({ length: count }, () => key);
        },
        run: (client, key) => client.call("POST", "/api/v1/admin/instant/predict", { key, form: { prompt: "x" } }),
      },
      {
        name: "create a key",
        run: (client) => client.call("POST", "/api/v2/keys", { ...asUser, body: { name: "one" } }),
      },
      {
        name: "revoke a key",
        prepare: createKeys(asUser),
        run: (client, id) => client.call("DELETE", `/api/v2/keys/${id}`, asUser),
      },
      {
        name: "rotate a key",
        prepare: createKeys(asUser),
        run: (client, id) => client.call("POST", `/api/v2/keys/${id}/rotate`, { ...asUser, body: {} }),
      },
      { name: "list the keys of a user", run: (client) => client.call("GET", "/api/v2/keys", asUser) },
      {
        name: "list the keys of a user with a tenth of all",
        run: (client) => client.call("GET", "/api/v2/keys", asService),
        grows: "The total counts the user's keys.",
      },
      {
        name: "list keys, the last page of that user",
        run: (client) => client.call("GET", `/api/v2/keys?page=${Math.max(1, Math.floor(size / 200))}`, asService),
        grows: "Pages are numbered: a page reads those before it.",
      },
      {
        name: "revoke a key of that user",
        prepare: createKeys(asService),
        run: (client, id) => client.call("DELETE", `/api/v2/keys/${id}`, asService),
      },
      { name: "list users", run: (client) => client.call("GET", "/api/v2/admin/users"), grows: countedUsers },
      {
        name: "list users, the last page",
        run: (client) => client.call("GET", `/api/v2/admin/users?page=${Math.max(1, Math.floor(size / 200))}`),
        grows: countedUsers,
      },
      { name: "read a user", run: (client) => client.call("GET", "/api/v2/admin/users/user-1") },
      { name: "keys of a user, for an admin", run: (client) => client.call("GET", "/api/v2/admin/users/user-1/keys") },
      {
        name: "create a user",
        run: (client, _item, n) =>
          client.call("POST", "/api/v2/admin/users", { body: { username: `new-${Date.now()}-${n}` } }),
      },
      {
        name: "change a user",
        run: (client, _item, n) =>
          client.call("PATCH", "/api/v2/admin/users/user-1", { body: { disabled: n % 2 === 0 } }),
      },
      {
        name: "add credit",
        run: (client) =>
          client.call("POST", "/api/v2/admin/users/user-1/credits", { body: { amount: 1, reason: "benchmark" } }),
      },
      {
        name: "create a sign-in link",
        run: (client) => client.call("POST", "/api/v2/sign-in-links", { body: { username: "user-1" } }),
      },
      {
        name: "operator's overview",
        run: (client) => client.call("GET", "/api/v2/admin/overview"),
        grows: countedUsers,
      },
      { name: "metrics", run: (client) => client.call("GET", "/metrics") },
    ];
  },
};
