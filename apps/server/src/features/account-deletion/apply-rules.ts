import type { Database, Sql } from "../../engines/database/database.ts";
import { firstIdAt } from "../../kernel/first-id-at.ts";
import { deleteSomeRunsOf } from "../runs/index.ts";
import type { ClaimedAccount, DeletionDeps } from "./account.ts";
import { renameModels } from "./rename-models.ts";
import { type Rule, rules } from "./rules.ts";

/** Few enough for a short transaction. */
const most = 500;
const walkedAtOnce = 5_000;

/** Deletes what the rules say, in small transactions. May stop anywhere: a repeat continues. */
export async function applyRules(deps: DeletionDeps, account: ClaimedAccount, signal: AbortSignal): Promise<void> {
  for (const [table, rule] of Object.entries(rules)) {
    for (const step = stepOf(deps, account, table, rule); step && (await step()); ) signal.throwIfAborted();
    signal.throwIfAborted();
  }
}

/** Deletes a part, and returns whether more may be left. */
type Step = () => Promise<boolean>;

function stepOf(deps: DeletionDeps, account: ClaimedAccount, table: string, rule: Rule): Step | undefined {
  const { sql } = deps.database;
  if ("empty" in rule) return async () => (await rule.empty(sql, account.userId, most)).count > 0;
  if ("walk" in rule) return walk(deps.database, account, table, rule);
  if ("delete" in rule) return async () => (await deleteSome(sql, account, table, rule)) > 0;
  if ("by" in rule) return stepsOfFeatures(deps, account)[rule.by];
  return undefined;
}

type Steps = Record<Extract<Rule, { by: unknown }>["by"], Step>;

function stepsOfFeatures({ database, files, drives }: DeletionDeps, { userId, ...account }: ClaimedAccount): Steps {
  return {
    files: async () => (await files.deleteSomeOf(userId)) > 0,
    drives: async () => (await drives.deleteSomeOf(userId)) > 0,
    runs: async () => (await deleteSomeRunsOf(database, userId)) > 0,
    async usage() {
      if (!account.isFinished) await renameModels(database, { userId, ...account });
      return false;
    },
  };
}

async function deleteSome(
  sql: Sql,
  { userId }: ClaimedAccount,
  table: string,
  rule: Extract<Rule, { of?: unknown }>,
): Promise<number> {
  const { delete: column, of } = rule;
  const owned = of
    ? sql`${sql(column)} in (select id from ${sql(of.table)} where ${sql(of.owner)} = ${userId})`
    : sql`${sql(column)} = ${userId}`;
  const { count } = await sql`
    delete from ${sql(table)} where ctid = any(array(select ctid from ${sql(table)} where ${owned} limit ${most}))`;
  return count;
}

function walk(
  database: Database,
  { userId, createdAt }: ClaimedAccount,
  table: string,
  { delete: column, walk: prefix, children = [] }: Extract<Rule, { walk: unknown }>,
): Step {
  let cursor = firstIdAt(prefix, createdAt);
  return () =>
    database.transaction(async (tx) => {
      const [part] = await tx<[{ last: string | null; ids: string[] }]>`
        with part as materialized (
          select id from ${tx(table)} where id > ${cursor} order by id limit ${walkedAtOnce}
        ), gone as (
          delete from ${tx(table)} where id in (select id from part) and ${tx(column)} = ${userId} returning id
        )
        select (select max(id) from part) as last, array(select id from gone) as ids`;
      for (const child of children) {
        await tx`delete from ${tx(child)} where prediction_id = any(${part.ids}::text[])`;
      }
      cursor = part.last ?? cursor;
      return part.last !== null;
    });
}
