import type { Sql } from "../../../engines/database/database.ts";
import type { CallerTeam } from "../context.ts";

type Query = ReturnType<Sql>;

/** The seat with which a person acts for a team. */
export interface Seat {
  userId: string;
  username: string;
  plan: string;
  keyId: string;
  keyName: string;
  lastUsedAt: Date | null;
  boundTokensPerMinute: number | null;
  team: CallerTeam;
}

/** The member of a key `k` of the user `u`: its membership is `m`, the person `person`. */
export const joinMember = (sql: Sql): Query => sql`
  left join team_members m on m.team_id = k.user_id and m.user_id = k.member_id
  left join users person on person.id = k.member_id`;

/** A key of a team works while its member is one, and is not disabled. */
export const hasMember = (sql: Sql): Query => sql`
  (case when u.kind = 'team' then m.role is not null and person.disabled_at is null else k.member_id is null end)`;

export const teamOfKey = (sql: Sql): Query => sql`
  case when u.kind = 'team' then json_build_object(
    'role', m.role,
    'member', json_build_object('userId', person.id, 'username', person.username),
    'seatId', m.seat_key_id
  ) end`;

export interface Asked {
  personId: string;
  /** Username of the team. */
  team: string;
}

/** Seats that work. The person is looked up by its own key. */
export function selectSeats(sql: Sql, asked: readonly Asked[]): Promise<(Seat & { personId: string })[]> {
  return sql<(Seat & { personId: string })[]>`
    select m.user_id as "personId", u.id as "userId", u.username, u.plan, k.id as "keyId",
      k.name as "keyName", k.last_used_at as "lastUsedAt", k.tokens_per_minute as "boundTokensPerMinute",
      ${teamOfKey(sql)} as team
    from unnest(
      ${asked.map(({ personId }) => personId)}::text[], ${asked.map(({ team }) => team)}::text[]
    ) as asked (person_id, team)
    join users u on u.username = asked.team and u.kind = 'team' and u.disabled_at is null
    join team_members m on m.team_id = u.id and m.user_id = asked.person_id
    join users person on person.id = m.user_id and person.disabled_at is null
    join api_keys k on k.id = m.seat_key_id and k.revoked_at is null`;
}
