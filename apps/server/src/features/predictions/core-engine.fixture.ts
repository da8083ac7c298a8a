import type { Database } from "../../engines/database/database.ts";
import { writePredictions } from "./admission/write-store.ts";
import { coreFaults } from "./core-faults.fixture.ts";
import { dayAfter, firstDay } from "./core-keys.fixture.ts";
import { type Rows, stateOfRows } from "./core-rows.fixture.ts";
import type { Answer, Arrival, Decision, End, Operation, State, World } from "./core-world.fixture.ts";
import { grantFreeSlots } from "./execution/sweep-store.ts";
import type { ArrivingPrediction, Ending, Decision as StoredDecision } from "./prediction.ts";
import { claimJobs } from "./store.ts";

/** Applies operations to a database by the functions under test. */
export class CoreEngine {
  readonly database: Database;
  #world = "";
  #today = firstDay;
  static #worlds = 0;

  constructor(database: Database) {
    this.database = database;
  }

  /** Ids are unique over all worlds of a database, because its ledger cannot be emptied. */
  #in(id: string): string {
    return `${this.#world}.${id}`;
  }

  #out(id: string): string {
    return id.slice(this.#world.length + 1);
  }

  async start(world: World): Promise<void> {
    this.#world = `w${++CoreEngine.#worlds}`;
    this.#today = firstDay;
    const id = (of: string) => this.#in(of);
    await this.database.transaction(async (tx) => {
      for (const table of ["live_predictions", "ended_predictions", "usage", "model_lines", "model_slots"])
        await tx`delete from ${tx(table)}`;
      for (const [name, { perMinute, parallel }] of Object.entries(world.plans))
        await tx`
          insert into plans (name, requests_per_minute, parallel) values (${name}, ${perMinute}, ${parallel})
          on conflict (name) do update set requests_per_minute = ${perMinute}, parallel = ${parallel}`;
      for (const [user, { plan, balance }] of Object.entries(world.users)) {
        await tx`insert into users (id, username, role, plan, created_at) values (${id(user)}, ${id(user)}, 'user', ${plan}, now())`;
        await tx`insert into wallets (user_id) values (${id(user)})`;
        if (balance > 0) await this.#credit(user, balance, tx);
      }
      for (const [key, { user, parent, limits }] of Object.entries(world.keys))
        await tx`
          insert into api_keys (id, user_id, parent_id, public, secret_hash, name, created_at, monthly_limit_micros,
            daily_limit_micros, tokens_per_minute)
          values (${id(key)}, ${id(user)}, ${parent && id(parent)}, ${id(key).padStart(12, "0")}, ${Buffer.alloc(32)}, '',
            now(), ${limits.month}, ${limits.day}, ${limits.minute})`;
      for (const [model, { capacity }] of Object.entries(world.models)) {
        await tx`
          insert into models (id, owner_id, name, manifest)
          values (${id(model)}, (select min(id) from users), ${id(model)}, ${manifestOf(capacity)}::text::json)`;
        await tx`insert into model_slots (model_id) values (${id(model)}) on conflict do nothing`;
      }
      const ancestors = (run: string | null): string[] => {
        const parent = run === null ? null : (world.runs[run]?.parent ?? null);
        return parent === null ? [] : [...ancestors(parent), id(parent)];
      };
      for (const [run, { user, key, price }] of Object.entries(world.runs)) {
        await tx`
          insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, status, input, timeout_ms, max_steps,
            base_url, price_micros, ancestors)
          values (${id(run)}, 'agt_1', 'rev_1', ${id(user)}, ${id(user)}, ${id(key)}, 'running', '{}', 1000, 5, '',
            ${price}, ${ancestors(run)})`;
        await tx`update wallets set reserved_micros = reserved_micros + ${price} where user_id = ${id(user)}`;
        await this.#reserve(tx, id(run));
      }
    });
  }

  /** As a run is created. */
  async #reserve(tx: Database["sql"], run: string): Promise<void> {
    await tx`
      update runs r set key_month = case when k.monthly_limit_micros is not null then ${this.#today}::date end,
        key_day = case when k.daily_limit_micros is not null then ${this.#today}::date end, parent_key_id = p.id,
        parent_month = case when p.monthly_limit_micros is not null then ${this.#today}::date end,
        parent_day = case when p.daily_limit_micros is not null then ${this.#today}::date end
      from api_keys k left join api_keys p on p.id = k.parent_id where r.id = ${run} and k.id = r.key_id`;
    const counted = tx`(values (r.key_id, r.key_month, r.key_day), (r.parent_key_id, r.parent_month, r.parent_day))`;
    await tx`
      insert into key_months as m (key_id, month, reserved_micros)
      select c.id, c.month, r.price_micros from runs r cross join lateral ${counted} c (id, month, day)
      where r.id = ${run} and c.month is not null
      on conflict (key_id, month) do update set reserved_micros = m.reserved_micros + excluded.reserved_micros`;
    await tx`
      insert into key_days as d (key_id, day, reserved_micros)
      select c.id, c.day, r.price_micros from runs r cross join lateral ${counted} c (id, month, day)
      where r.id = ${run} and c.day is not null
      on conflict (key_id, day) do update set reserved_micros = d.reserved_micros + excluded.reserved_micros`;
  }

  async apply(operation: Operation, claimOf: (id: string) => number): Promise<Answer> {
    const { sql } = this.database;
    switch (operation.kind) {
      case "write":
        return this.#writeAll(operation, claimOf);
      case "settle":
        return this.#settle(operation.ends, claimOf);
      case "look":
        return { decisions: [await this.#ask(operation.node, operation.arrival, operation.counts)] };
      case "claim":
        return { ids: await this.#claim(operation.node, operation.slots) };
      case "release": {
        const jobs = operation.ids.map(({ id, stale }) => ({ id: this.#in(id), claim: claimOf(id) - (stale ? 1 : 0) }));
        return { ids: await this.#release(jobs, operation.died) };
      }
      case "start calls":
        return { ids: await this.#startCalls(operation.node) };
      case "grant free slots":
        await this.#grantFreeSlots();
        return {};
      case "capacity":
        await sql`
          update models set manifest = ${manifestOf(operation.capacity)}::text::json where id = ${this.#in(operation.model)}`;
        return {};
      case "retire":
        await sql`update models set retired_at = now() where id = ${this.#in(operation.model)}`;
        return {};
      case "plan":
        await sql`update users set plan = ${operation.plan} where id = ${this.#in(operation.user)}`;
        return {};
      case "revoke":
        await sql`
          update api_keys set revoked_at = ${operation.revoked ? new Date() : null} where id = ${this.#in(operation.key)}`;
        return {};
      case "limit":
        await sql`
          update api_keys set monthly_limit_micros = ${operation.limits.month}, daily_limit_micros = ${operation.limits.day},
            tokens_per_minute = ${operation.limits.minute}
          where id = ${this.#in(operation.key)}`;
        return {};
      case "credit":
        await this.#credit(operation.user, operation.amount, sql);
        return {};
      case "fold":
        await sql`select fold_usage(${this.#in(operation.user)})`;
        return {};
      case "run":
        await sql`
          update runs set holder = ${operation.holder}, call_id = ${this.#in(operation.call)} where id = ${this.#in(operation.run)}`;
        return {};
      case "day":
      case "month":
        this.#today = dayAfter(operation.kind, this.#today);
        return {};
      case "pass":
        await sql`
          update wallets set hits = array(
            select case when i % 2 = 1 then hit - ${operation.ms}::bigint else hit end
            from unnest(hits) with ordinality g (hit, i) order by i)
          where user_id like ${`${this.#world}.%`}`;
        await this.#passTokens(operation.ms / 1000);
        return {};
    }
  }

  async #passTokens(seconds: number): Promise<void> {
    const { sql } = this.database;
    await sql`
      update key_tokens set window_tokens = array(
        select case when i % 2 = 1 then x - ${seconds}::bigint else x end
        from unnest(window_tokens) with ordinality g (x, i) order by i)
      where key_id like ${`${this.#world}.%`}`;
    await sql`
      update live_predictions set key_second = key_second - ${seconds}::bigint, parent_second = parent_second - ${seconds}::bigint`;
  }

  #ending({ id, stale, status, price, tokens }: End, claimOf: (id: string) => number): Ending {
    return {
      ...{
        id: this.#in(id),
        claim: claimOf(id) - (stale ? 1 : 0),
        status,
        inferenceMs: 1,
        output: "{}",
        error: undefined,
      },
      ...{ inputTokens: tokens, outputTokens: undefined, cachedTokens: undefined, cacheWriteTokens: undefined },
      ...{ streamDetails: undefined, price },
    };
  }

  #arriving(one: Arrival, node: string, purpose: ArrivingPrediction["purpose"]): ArrivingPrediction {
    return {
      ...{ id: this.#in(one.id), userId: this.#in(one.user), keyId: this.#in(one.key), modelId: this.#in(one.model) },
      ...{
        modelName: `x/${one.model}`,
        route: one.route,
        highPriority: one.highPriority,
        reservation: one.reservation,
        tokens: { reserved: one.tokens, limit: 0 },
      },
      ...{ queueSeconds: 600, runId: one.run === null ? undefined : this.#in(one.run), hasSlot: one.here, purpose },
      ...{ mustBeCovered: one.mustBeCovered, sponsored: one.sponsored, holder: one.route === "async" ? null : node },
      ...(one.route === "async" && {
        queued: {
          ...{ input: "{}", pricing: "{}", bounds: "{}", baseUrl: "http://here" },
          ...(one.webhook && { webhookDestination: "http://there", webhookTarget: "AAAA" }),
        },
      }),
    };
  }

  #decision(
    { verdict, rateLimit, rateRemaining, rateResetMs, retryAfterMs }: StoredDecision,
    { route }: Arrival,
  ): Decision {
    const rate =
      rateLimit === null || route === "agent"
        ? null
        : { limit: rateLimit, remaining: rateRemaining ?? -1, resetMs: rateResetMs ?? -1 };
    return { verdict, rate, retryAfterMs };
  }

  async #writeAll(
    {
      node,
      ends,
      arrivals,
      slots,
    }: { node: string; ends: readonly End[]; arrivals: readonly Arrival[]; slots: number },
    claimOf: (id: string) => number,
  ): Promise<Answer> {
    return this.#write(
      node,
      ends.map((one) => this.#ending(one, claimOf)),
      arrivals,
      "run",
      { slots },
    );
  }

  async #write(
    node: string,
    endings: readonly Ending[],
    arrivals: readonly Arrival[],
    purpose: ArrivingPrediction["purpose"],
    options: { slots?: number; withMore?: boolean },
  ): Promise<Answer> {
    const { decisions, ended, jobs, grants, wake } = await writePredictions(
      this.database.sql,
      arrivals.map((one) => this.#arriving(one, node, purpose)),
      endings,
      { nodeId: node, today: this.#today, ...options },
    );
    const plain = {
      verdict: "run",
      rateLimit: null,
      rateRemaining: null,
      rateResetMs: null,
      retryAfterMs: null,
    } as const;
    return {
      decisions: arrivals.map((one, n) => this.#decision(decisions?.[n] ?? plain, one)),
      ended: endings.map((_, n) => ended?.includes(n) ?? false),
      ids: (jobs ?? []).map(({ id }) => this.#out(id)),
      granted: (grants ?? []).map(({ id }) => this.#out(id)),
      wake: wake ?? false,
    };
  }

  async #settle(ends: readonly End[], claimOf: (id: string) => number): Promise<Answer> {
    const endings = ends.map((one) => this.#ending(one, claimOf));
    const { ended, granted, wake } = await this.#write("node", endings, [], "run", { withMore: true });
    return { ended, granted, wake };
  }

  async #ask(node: string, arrival: Arrival, counts: boolean): Promise<Decision> {
    const { decisions } = await this.#write(node, [], [arrival], counts ? "look_and_count" : "look", {});
    if (!decisions?.[0]) throw new Error("no decision");
    return decisions[0];
  }

  async #claim(node: string, slots: number): Promise<string[]> {
    return (await claimJobs(this.database.sql, node, slots)).map(({ id }) => this.#out(id));
  }

  async #release(jobs: { id: string; claim: number }[], died: boolean): Promise<string[]> {
    const rows = await this.database.sql<{ id: string }[]>`
      select id from release_predictions(${jobs.map((job) => job.id)}::text[], ${jobs.map((job) => job.claim)}::int[], ${died}) as id`;
    return rows.map(({ id }) => this.#out(id));
  }

  async #startCalls(node: string): Promise<string[]> {
    const rows = await this.database.sql<{ id: string }[]>`select id from start_agent_calls(${node}) as id`;
    return rows.map(({ id }) => this.#out(id));
  }

  async #grantFreeSlots(): Promise<void> {
    await grantFreeSlots(this.database);
  }

  async #credit(user: string, amount: number, sql: Database["sql"]): Promise<void> {
    const wallet = `user:${this.#in(user)}`;
    const [kind, from, to] = amount > 0 ? ["credit", "outside", wallet] : ["correction", wallet, "outside"];
    await sql`select move_money(${kind}, ${from}, ${to}, ${Math.abs(amount)}, null, 'test')`;
  }

  async look(): Promise<State> {
    const mine = `${this.#world}.%`;
    const [row] = await this.database.sql<{ seen: Rows }[]>`
      select json_build_object(
        'users', (select json_agg(w) from (
          select user_id, balance_micros, reserved_micros, running, waiting from wallets where user_id like ${mine}) w),
        'months', (select json_agg(m) from (
          select key_id, month, spent_micros, reserved_micros from key_months
          where key_id like ${mine} and (spent_micros <> 0 or reserved_micros <> 0)) m),
        'days', (select json_agg(d) from (
          select key_id, day, spent_micros, reserved_micros from key_days
          where key_id like ${mine} and (spent_micros <> 0 or reserved_micros <> 0)) d),
        'tokens', (select json_object_agg(key_id, tokens) from (
          select key_id, tokens_in(window_tokens) as tokens from key_tokens where key_id like ${mine}) t where tokens <> 0),
        'models', (select json_agg(m) from (
          select id, coalesce(running, 0) as running, coalesce(waiting, 0) as waiting
          from models left join model_slots on model_id = id where id like ${mine}) m),
        'live', (select json_agg(l) from (
          select id, user_id, key_id, model_id, route, high_priority, holder, claim, deaths, reserved_micros,
            started_at is not null as started from live_predictions) l),
        'ended', (select json_agg(e) from (
          select e.id, e.user_id, e.key_id, e.route, e.status, u.reserved_micros, u.price_micros,
            e.started_at is not null as started,
            (u.user_id, u.status, u.route) = (e.user_id, e.status, e.route) and u.key_id is not distinct from e.key_id as agree
          from ended_predictions e left join usage u on u.request_id = e.id where e.id like ${mine}) e)) as seen`;
    if (!row) throw new Error("the query returned no row");
    return stateOfRows(row.seen, (id) => this.#out(id));
  }

  /** See `coreFaults`. */
  async faults(): Promise<readonly unknown[]> {
    return coreFaults(this.database.sql, `${this.#world}.%`);
  }
}

const manifestOf = (capacity: number) => JSON.stringify({ kind: "other", visibility: "public", capacity });
