import type { Manifest } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Model } from "./model.ts";

/** Payload: the endpoint id of a model that changed. */
export const changesChannel = "models_changed";

interface ModelRow extends Omit<Model, "endpointId"> {
  /** Last shipped manifest of a built-in model; null for others. */
  readonly seeded: Manifest | null;
}

export interface StoredModel {
  readonly model: Model;
  readonly seeded: Manifest | null;
}

const columns = (sql: Sql) => sql`
  m.id, m.owner_id as "ownerId", u.username as owner, u.disabled_at is not null as "isOwnerDisabled",
  exists (select from account_deletions d where d.user_id = m.owner_id) as "isOwnerLeaving",
  u.role = 'system' as "isBuiltIn", m.name,
  m.version, m.manifest, m.seeded, m.taken_down as "takenDown", m.created_at as "createdAt", m.updated_at as "updatedAt"`;

function toStored({ seeded, ...row }: ModelRow): StoredModel {
  return { seeded, model: Object.freeze({ ...row, endpointId: `${row.owner}/${row.name}` }) };
}

export async function findModel(sql: Sql, owner: string, name: string): Promise<Model | undefined> {
  const [row] = await sql<ModelRow[]>`
    select ${columns(sql)} from models m join users u on u.id = m.owner_id
    where u.username = ${owner} and m.name = ${name} and m.retired_at is null`;
  return row && toStored(row).model;
}

export async function findModels(sql: Sql, endpointIds: readonly string[]): Promise<Model[]> {
  if (endpointIds.length === 0) return [];
  const named = endpointIds.map((endpointId) => endpointId.split("/"));
  const rows = await sql<ModelRow[]>`
    select ${columns(sql)}
    from unnest(${named.map(([owner = ""]) => owner)}::text[], ${named.map(([, name = ""]) => name)}::text[])
      wanted (owner, name)
    join users u on u.username = wanted.owner
    join models m on m.owner_id = u.id and m.name = wanted.name and m.retired_at is null`;
  return rows.map((row) => toStored(row).model);
}

/** Also finds retired models, for accepted predictions. */
export async function findModelRow(sql: Sql, id: string): Promise<Model | undefined> {
  const [row] = await sql<ModelRow[]>`
    select ${columns(sql)} from models m join users u on u.id = m.owner_id where m.id = ${id}`;
  return row && toStored(row).model;
}

export async function lockModel(tx: Transaction, owner: string, name: string): Promise<StoredModel | undefined> {
  const [row] = await tx<ModelRow[]>`
    select ${columns(tx)} from models m join users u on u.id = m.owner_id
    where u.username = ${owner} and m.name = ${name} and m.retired_at is null
    for update of m`;
  return row && toStored(row);
}

export async function findOwnerId(sql: Sql, username: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from users where username = ${username}`;
  return row?.id;
}

/** A name stays taken down if its model is deleted and created again. */
const takenDownOf = (sql: Sql, ownerId: string, name: string) => sql`(
  select taken_down from models where owner_id = ${ownerId} and name = ${name}
  order by retired_at desc nulls first, id desc limit 1)`;

export async function isTakenDown(sql: Sql, ownerId: string, name: string): Promise<boolean> {
  const [row] = await sql<{ taken: boolean }[]>`select ${takenDownOf(sql, ownerId, name)} is not null as taken`;
  return row?.taken ?? false;
}

/** A second take-down keeps the visibility to restore. */
export async function markTakenDown(
  tx: Transaction,
  { id, manifest }: Model,
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  const at = now.toISOString();
  await tx`
    update models set taken_down = jsonb_build_object('at', ${at}::text, 'reason', ${reason}::text,
      'visibility', coalesce(taken_down ->> 'visibility', ${manifest.visibility}::text)),
      manifest = ${asJson(tx, { ...manifest, visibility: "private" })}, version = version + 1, updated_at = ${at}
    where id = ${id}`;
}

export async function markRestored(tx: Transaction, { id, manifest }: Model): Promise<void> {
  const [row] = await tx<{ visibility: Manifest["visibility"] }[]>`
    select taken_down ->> 'visibility' as visibility from models where id = ${id}`;
  const visibility = row?.visibility ?? manifest.visibility;
  await tx`
    update models set taken_down = null, manifest = ${asJson(tx, { ...manifest, visibility })},
      version = version + 1, updated_at = now()
    where id = ${id}`;
}

/** The owner's choice while the model is taken down: a restore does not publish it. */
export async function keepPrivate(tx: Transaction, id: string): Promise<void> {
  await tx`
    update models set taken_down = taken_down || ${tx.json({ visibility: "private" })}
    where id = ${id} and taken_down is not null`;
}

export async function announceChange(tx: Transaction, endpointId: string): Promise<void> {
  await tx`select pg_notify(${changesChannel}, ${endpointId})`;
}

/** Usernames never change. */
const usernameOf = (sql: Sql, id: string) => sql`(select username from users where id = ${id})`;

/** Version 1 means that the model was created. `restored`: the visibility after a take-down that is in force. */
export async function upsertModel(
  tx: Transaction,
  ownerId: string,
  name: string,
  manifest: Manifest,
  restored = manifest.visibility,
): Promise<Model> {
  const [row] = await tx<ModelRow[]>`
    with m as (
      insert into models (owner_id, owner, name, manifest, taken_down)
      values (${ownerId}, ${usernameOf(tx, ownerId)}, ${name}, ${asJson(tx, manifest)},
        ${takenDownOf(tx, ownerId, name)} || ${tx.json({ visibility: restored })})
      on conflict (owner_id, name) where retired_at is null
        do update set manifest = excluded.manifest, seeded = null, version = models.version + 1, updated_at = now(),
          taken_down = models.taken_down || ${tx.json({ visibility: restored })}
      returning *
    ), slots as (
      insert into model_slots (model_id) select id from m on conflict do nothing
    )
    select ${columns(tx)} from m join users u on u.id = m.owner_id`;
  return announced(tx, row);
}

/** Undefined if a live model of that name exists, or a retired one without `afterRetired`. */
export async function insertSeeded(
  tx: Transaction,
  ownerId: string,
  name: string,
  { manifest, afterRetired }: { manifest: Manifest; afterRetired: boolean },
): Promise<Model | undefined> {
  const [row] = await tx<ModelRow[]>`
    with m as (
      insert into models (owner_id, owner, name, manifest, seeded)
      select ${ownerId}, ${usernameOf(tx, ownerId)}, ${name}, ${asJson(tx, manifest)}, ${asJson(tx, manifest)}
      where ${afterRetired} or not exists (select from models where owner_id = ${ownerId} and name = ${name})
      on conflict (owner_id, name) where retired_at is null do nothing
      returning *
    ), slots as (
      insert into model_slots (model_id) select id from m on conflict do nothing
    )
    select ${columns(tx)} from m join users u on u.id = m.owner_id`;
  return row && announced(tx, row);
}

/** Needs the lock of the model. */
export async function updateModel(
  tx: Transaction,
  id: string,
  manifest: Manifest,
  seeded: Manifest | null,
): Promise<Model> {
  const [row] = await tx<ModelRow[]>`
    with m as (
      update models set manifest = ${asJson(tx, manifest)}, seeded = ${seeded && asJson(tx, seeded)},
        version = version + 1, updated_at = now()
      where id = ${id} and retired_at is null
      returning *
    ), slots as (
      insert into model_slots (model_id) select id from m on conflict do nothing
    )
    select ${columns(tx)} from m join users u on u.id = m.owner_id`;
  return announced(tx, row);
}

/** Changed backends begin with closed circuits. */
async function forgetCircuits(tx: Transaction, modelId: string): Promise<void> {
  await tx`select forget_circuits(${modelId})`;
}

export async function retireModel(tx: Transaction, model: Model): Promise<void> {
  await forgetCircuits(tx, model.id);
  await tx`update models set retired_at = now(), version = version + 1 where id = ${model.id} and retired_at is null`;
  await announceChange(tx, model.endpointId);
}

/** All that an account has. Returns how many were not retired before. */
export async function retireModelsOf(sql: Sql, ownerId: string): Promise<number> {
  const rows = await sql`
    with retired as (
      update models set retired_at = now(), version = version + 1 where owner_id = ${ownerId} and retired_at is null
      returning name
    )
    select pg_notify(${changesChannel}, ${usernameOf(sql, ownerId)} || '/' || name) from retired`;
  return rows.length;
}

/** As text: the driver would send it as jsonb, which loses the order of fields. */
export function asJson(sql: Sql, manifest: Manifest) {
  return sql`${JSON.stringify(manifest)}::text::json`;
}

async function announced(tx: Transaction, row: ModelRow | undefined): Promise<Model> {
  if (!row) throw new Error("model is missing after it was locked or written");
  const { model } = toStored(row);
  if (model.version > 1) await forgetCircuits(tx, model.id);
  await announceChange(tx, model.endpointId);
  return model;
}

export interface ListFilter {
  userId: string;
  /** Endpoint ids of a restricted key. */
  reach: readonly string[] | null;
  kind: string | undefined;
  q: string | undefined;
  /** Only own and built-in models. */
  withoutOthers: boolean;
}

/** Descriptions are not in the index, which could not hold a long one. They are read only where name and title differ. */
const mentions = (sql: Sql, q: string) =>
  sql`(strpos(m.search_text, lower(${q})) > 0 or strpos(m.search_description, lower(${q})) > 0)`;

/** Also of a disabled owner. `after`: the last name of the page before. */
export async function selectOwned(sql: Sql, ownerId: string, after: string, limit: number): Promise<Model[]> {
  const rows = await sql<ModelRow[]>`
    select ${columns(sql)} from models m join users u on u.id = m.owner_id
    where m.owner_id = ${ownerId} and m.retired_at is null and m.name > ${after} order by m.name limit ${limit}`;
  return rows.map((row) => toStored(row).model);
}

/** An index chooses the page; manifests are read only for that page. */
export async function listPage(
  sql: Sql,
  filter: ListFilter,
  limit: number,
  offset: number,
): Promise<{ entries: Model[]; total: number }> {
  const visible = sql`
    from models m
    where m.retired_at is null and (m.visibility = 'public' or m.owner_id = ${filter.userId})
      and m.owner_id not in (select id from users where disabled_at is not null)
      ${filter.reach === null ? sql`` : sql`and m.owner || '/' || m.name = any(${[...filter.reach]}::text[])`}
      ${filter.withoutOthers ? sql`and m.owner_id in (select id from users where id = ${filter.userId} or role = 'system')` : sql``}
      ${filter.kind === undefined ? sql`` : sql`and m.kind = ${filter.kind}`}
      ${filter.q === undefined ? sql`` : sql`and ${mentions(sql, filter.q)}`}`;
  // A search cannot use the index, so page and total share one pass over the models.
  const found = filter.q === undefined ? sql`not materialized` : sql`materialized`;
  const rows = await sql<(Partial<ModelRow> & { total: number })[]>`
    with found as ${found} (select m.id, m.owner, m.name ${visible}),
    page as materialized (select id from found order by owner, name limit ${limit} offset ${offset})
    select (select count(*)::integer from found) as total, ${columns(sql)}
    from (values (1)) one left join (page join models m on m.id = page.id join users u on u.id = m.owner_id) on true
    order by m.owner, m.name`;
  const listed = rows.filter((row): row is ModelRow & { total: number } => typeof row.id === "string");
  return { entries: listed.map(({ total: _total, ...row }) => toStored(row).model), total: rows[0]?.total ?? 0 };
}
