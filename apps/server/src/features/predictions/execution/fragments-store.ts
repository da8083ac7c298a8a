import type { Sql } from "../../../engines/database/database.ts";
import { at, type PredictionAddress } from "../store.ts";
import type { Fragment } from "./fragments.rules.ts";

/** The channel on which a node says that a run has said more. */
export const fragmentsChannel = "gantry_fragments";

/** The channel on which the holder of a prediction hears that somebody follows it. */
export const followedChannel = "gantry_followed";

export async function insertFragment(sql: Sql, id: string, { claim, seq, field, fragment }: Fragment): Promise<void> {
  // A worker that was taken for dead must leave nothing behind: settlement waits for this lock, or this finds nothing.
  await sql`
    with present as (
      select 1 from live_predictions where id = ${id} and claim = ${claim} for key share
    ), added as (
      insert into prediction_fragments (prediction_id, claim, seq, field, fragment)
      select ${id}, ${claim}, ${seq}, ${field}, ${fragment} from present on conflict do nothing returning 1
    )
    select pg_notify(${fragmentsChannel}, ${id}) from added`;
}

/** Tells the holder; false where there is none to tell: workers write down what is said, whoever follows. */
export async function notifyHolder(sql: Sql, address: PredictionAddress): Promise<boolean> {
  const rows = await sql`
    select pg_notify(${followedChannel}, id) from live_predictions where ${at(sql, address)} and route <> 'async'`;
  return rows.length > 0;
}

/** What a prediction had said that failed or was cancelled; see `keep_last_words`. */
export async function findLastWords(sql: Sql, address: PredictionAddress): Promise<Fragment[]> {
  const [row] = await sql<{ said: Fragment[] | null }[]>`select said from ended_predictions where ${at(sql, address)}`;
  return row?.said ?? [];
}

/** Of the present claim alone: what one before it said is void, also while the run waits to begin again. */
export async function listFragments(sql: Sql, id: string, after: { claim: number; seq: number }): Promise<Fragment[]> {
  return sql<Fragment[]>`
    select claim, seq, field, fragment from prediction_fragments
    where prediction_id = ${id} and claim = (select claim from live_predictions where id = ${id})
      and (claim, seq) > (${after.claim}, ${after.seq}) order by seq`;
}
