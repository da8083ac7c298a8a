import type { Sql } from "../../engines/database/database.ts";
import type { Verdict } from "./attempt.rules.ts";
import type { Rooms } from "./send-quotas.ts";

/** So many rows are read at a look without asking how they are spread. */
const littleDue = 1000;

export interface ClaimedRow {
  id: string;
  claim: number;
  userId: string;
  predictionId: string;
  destination: string;
  target: Uint8Array;
  payload: string;
  /** Since its prediction ended. */
  ageMs: number;
  failures: number;
  trace: string | null;
}

/**
 * Claims what is due, as far as there is room, for `leaseMs`. A lane is what one user sends to one destination. As long
 * as little is due, the lanes are those of all that is due; beyond that they are found by stepping from one to the next
 * in the index, so that a destination without room costs one step however much waits for it. Every user's first comes
 * before any user's second, those under way counted in, and lots are drawn among equals. Of one user's, the first of
 * every lane comes before the second of any; what goes to lanes that are silent, or is a retry in one that is not known
 * to answer, comes after the rest. A user has as many attempts under way on a node as the plan allows in parallel, half
 * of them to lanes that are not known to answer.
 *
 * A claim that has lapsed counts as an attempt: who had it was sending, and did not live to say so.
 *
 * `missed` were chosen here and taken by another node in the same moment. `at` is the database's time of the look.
 */
export async function claimDue(
  sql: Sql,
  { nodeId, leaseMs, rooms }: { nodeId: string; leaseMs: number; rooms: Rooms },
): Promise<{ claimed: ClaimedRow[]; missed: number; at: string | undefined }> {
  const { free, perLane, perDestination, perUser, perUserUnsure, lanes, destinations, users } = rooms;
  const rows = await sql<({ at: string; isChosen: boolean } & (ClaimedRow | { id: null }))[]>`
    with recursive oldest as materialized (
      select destination, user_id from webhook_deliveries
      where status = 'pending' and due_at <= now() order by due_at limit ${littleDue}
    ), walked as (
      (select destination, user_id from webhook_deliveries
       where status = 'pending' and (select count(*) from oldest) = ${littleDue}
       order by destination, user_id limit 1)
      union all
      select next.destination, next.user_id from walked cross join lateral (
        select destination, user_id from webhook_deliveries
        where status = 'pending' and (destination, user_id) > (walked.destination, walked.user_id)
        order by destination, user_id limit 1
      ) next
    ), lanes as (
      select destination, user_id from oldest union select destination, user_id from walked
    ), open_lanes as (
      select lanes.*, coalesce(d.room, ${perDestination}) as destination_room, coalesce(l.room, ${perLane}) as lane_room,
        coalesce(u.running, 0) as user_running,
        least(${perUser}::int, p.parallel) - coalesce(u.running, 0) as user_room,
        least(${perUserUnsure}::int, (p.parallel + 1) / 2) - coalesce(u.unsure_running, 0) as unsure_room,
        coalesce(l.answers, false) as answers, coalesce(l.is_silent, false) as is_silent
      from lanes left join users on users.id = lanes.user_id left join plans p on p.name = users.plan
      left join unnest(${lanes.map((one) => one.destination)}::text[], ${lanes.map((one) => one.userId)}::text[],
          ${lanes.map((one) => one.room)}::int[], ${lanes.map((one) => one.answers)}::boolean[],
          ${lanes.map((one) => one.isSilent)}::boolean[])
        as l (destination, user_id, room, answers, is_silent) on l.destination = lanes.destination and l.user_id = lanes.user_id
      left join unnest(${destinations.map((one) => one.name)}::text[], ${destinations.map((one) => one.room)}::int[])
        as d (name, room) on d.name = lanes.destination
      left join unnest(${users.map((one) => one.name)}::text[], ${users.map((one) => one.running)}::int[],
          ${users.map((one) => one.unsureRunning)}::int[])
        as u (name, running, unsure_running) on u.name = lanes.user_id
      where coalesce(l.room, 1) > 0 and coalesce(d.room, 1) > 0
    ), firsts as (
      select lane.destination, lane.user_id, lane.destination_room, lane.user_room, lane.unsure_room, lane.answers,
        lane.user_running,
        not lane.answers and (lane.is_silent or due.failures > 0) as is_late, due.id, random() as lot,
        row_number() over (partition by lane.destination, lane.user_id order by due.due_at) as place
      from open_lanes lane cross join lateral (
        select id, due_at, failures from webhook_deliveries
        where status = 'pending' and destination = lane.destination and user_id = lane.user_id
          and due_at <= now()
        order by due_at limit greatest(0, least(lane.lane_room, lane.destination_room, lane.user_room))
      ) due
      where lane.user_room > 0 and (lane.answers or lane.unsure_room > 0)
    ), ranked as (
      select firsts.*, row_number() over (partition by user_id, answers order by is_late, place, lot) as of_its_kind
      from firsts
    ), fitting as (
      select id, lot, destination_room, user_room, user_running,
        row_number() over (partition by destination order by place, lot) as at_destination,
        row_number() over (partition by user_id order by is_late, place, lot) as of_user
      from ranked where answers or of_its_kind <= unsure_room
    ), chosen as (
      select id from fitting where at_destination <= destination_room and of_user <= user_room
      order by user_running + of_user, lot limit ${free}
    ), locked as (
      select id from webhook_deliveries
      where id in (select id from chosen) and status = 'pending' and due_at <= now()
      for update skip locked
    ), taken as (
      update webhook_deliveries d
      set attempts = d.attempts + (d.claimed_by is not null)::int,
        claimed_by = ${nodeId}, claim = d.claim + 1, resend = false,
        due_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
      from locked where d.id = locked.id
      returning d.*
    )
    select now()::text as at, chosen.id is not null as "isChosen", taken.id, taken.claim, taken.user_id as "userId",
      taken.prediction_id as "predictionId", taken.destination, taken.target, taken.payload, taken.failures, taken.trace,
      extract(epoch from clock_timestamp() - taken.created_at)::float8 * 1000 as "ageMs"
    from (select) as always left join (chosen left join taken on taken.id = chosen.id) on true`;
  const claimed = rows.filter((row): row is (typeof rows)[number] & ClaimedRow => row.id !== null);
  return { claimed, missed: rows.filter((row) => row.isChosen).length - claimed.length, at: rows[0]?.at };
}

/**
 * Whether anything was due at the time of the last look and is unclaimed, and in how many milliseconds the next becomes
 * due: not later than at once, for what has become due since then.
 */
export async function lookAhead(
  sql: Sql,
  at: string | undefined,
): Promise<{ isDue: boolean; nextInMs: number | null }> {
  const looked = at === undefined ? sql`now()` : sql`${at}::text::timestamptz`;
  const [found] = await sql<{ isDue: boolean; nextInMs: number | null }[]>`
    select coalesce((select min(due_at) from webhook_deliveries where status = 'pending') <= ${looked}, false) as "isDue",
      (select extract(epoch from min(due_at) - now())::float8 * 1000
       from webhook_deliveries where status = 'pending' and due_at > ${looked}) as "nextInMs"`;
  return found ?? { isDue: false, nextInMs: null };
}

export interface Result extends Verdict {
  id: string;
  claim: number;
  latencyMs: number;
}

/**
 * Writes down how attempts ended. Answers in how many milliseconds each is due again: null when it has ended, or was
 * no longer this claim's.
 */
export async function writeResults(sql: Sql, results: readonly Result[]): Promise<(number | null)[]> {
  const rows = await sql<{ id: string; dueInMs: number | null }[]>`
    update webhook_deliveries d
    set attempts = d.attempts + 1, resend = false, claimed_by = null,
      status = case when d.resend then 'pending' else g.status end,
      failures = case when d.resend then 0 else g.failures end,
      due_at = case when d.resend then clock_timestamp() else clock_timestamp() + g.retry_ms * interval '1 ms' end,
      last_status = g.last_status, last_error = g.last_error, latency_ms = g.latency_ms,
      delivered_at = case when g.status = 'delivered' then clock_timestamp() else d.delivered_at end
    from unnest(
      ${results.map((one) => one.id)}::text[], ${results.map((one) => one.claim)}::int[],
      ${results.map((one) => one.status)}::text[], ${results.map((one) => one.failures)}::int[],
      ${results.map((one) => one.retryInMs)}::bigint[], ${results.map((one) => one.lastStatus)}::int[],
      ${results.map((one) => one.lastError)}::text[], ${results.map((one) => one.latencyMs)}::int[]
    ) as g (id, claim, status, failures, retry_ms, last_status, last_error, latency_ms)
    where d.id = g.id and d.claim = g.claim and d.claimed_by is not null
    returning d.id, extract(epoch from d.due_at - clock_timestamp())::float8 * 1000 as "dueInMs"`;
  const dueById = new Map(rows.map((row) => [row.id, row.dueInMs]));
  return results.map((one) => dueById.get(one.id) ?? null);
}
