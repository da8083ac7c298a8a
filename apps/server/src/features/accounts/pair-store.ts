import type { RoleName } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Caller, CallerTeam, Resource } from "./context.ts";
import type { KeyReach } from "./key-reach.rules.ts";
import { hasMember, joinMember, teamOfKey } from "./teams/caller-store.ts";

/** A working pair, current or retired, or an access token, with its key and user. The limits are the lower ones of the key and its parent. */
export interface StoredPair extends KeyReach {
  resource: Resource | null;
  public: string;
  secretHash: Uint8Array;
  /** Set for a retired pair and for a session. */
  validUntil: Date | null;
  /** Replaced by a rotation, or a session opened with such a secret. */
  inGrace: boolean;
  keyId: string;
  keyName: string;
  keepsInputs: boolean;
  boundTokensPerMinute?: number | null;
  parentId?: string | null;
  /** Set for a session, and for the key of a sign-in link. */
  sessionEndsAt: Date | null;
  /** Of a session, its own. */
  lastUsedAt: Date | null;
  ofSession: boolean;
  userId: string;
  username: string;
  role: RoleName;
  plan: string;
  team: CallerTeam | null;
}

/**
 * The limits that a caller notices: those of the key `k` and its parent `q`, whichever are lower. The budget of a member
 * takes no rights from its keys, so it is not among them.
 */
const ownOrParents = (sql: Sql) => sql`
  least(k.monthly_limit_micros, case when k.member_id is null then q.monthly_limit_micros end) as "monthlyLimitMicros",
  least(k.daily_limit_micros, case when k.member_id is null then q.daily_limit_micros end) as "dailyLimitMicros",
  least(k.tokens_per_minute, case when k.member_id is null then q.tokens_per_minute end) as "tokensPerMinute",
  least(k.tokens_per_minute, q.tokens_per_minute) as "boundTokensPerMinute"`;

export async function selectPairs(sql: Sql, publicParts: readonly string[]): Promise<StoredPair[]> {
  return sql<StoredPair[]>`
    select p.public, p.secret_hash as "secretHash", p.valid_until as "validUntil", p.in_grace as "inGrace",
           k.id as "keyId", k.name as "keyName", least(k.expires_at, q.expires_at) as "expiresAt", k.models,
           ${ownOrParents(sql)}, k.parent_id as "parentId", p.of_session as "ofSession",
           case when p.of_session then p.last_used_at else k.last_used_at end as "lastUsedAt",
           k.keep_inputs as "keepsInputs", p.resource,
           least(case when p.of_session then p.valid_until end, k.session_ends_at) as "sessionEndsAt",
           u.id as "userId", u.username, u.role, u.plan, ${teamOfKey(sql)} as team
    from (
      select id as key_id, public, secret_hash, null::timestamptz as valid_until, false as of_session,
        false as in_grace, null as resource, null::timestamptz as last_used_at
      from api_keys where public = any(${publicParts as string[]}::text[])
      union all
      select key_id, public, secret_hash, valid_until, of_session, in_grace or not of_session, null, last_used_at
      from retired_key_pairs where public = any(${publicParts as string[]}::text[])
      union all
      select key_id, public, secret_hash, valid_until, false, false, 'mcp', null
      from oauth_access_tokens where public = any(${publicParts as string[]}::text[])
    ) p
    join api_keys k on k.id = p.key_id
    left join api_keys q on q.id = k.parent_id
    join users u on u.id = k.user_id ${joinMember(sql)}
    where k.revoked_at is null and q.revoked_at is null and u.disabled_at is null and u.role <> 'system'
      and ${hasMember(sql)}`;
}

/** Callers of those keys that work at that moment. */
export async function selectCallers(sql: Sql, keyIds: readonly string[], now: Date): Promise<Caller[]> {
  return sql<Caller[]>`
    select u.id as "userId", u.username, u.role, u.plan, k.id as "keyId", k.public as "keyPublic",
      k.name as "keyName", null::timestamptz as "graceEndsAt", k.models, least(k.expires_at, q.expires_at) as "expiresAt",
      ${ownOrParents(sql)}, k.parent_id as "parentId", k.keep_inputs as "keepsInputs",
      k.session_ends_at as "sessionEndsAt", ${teamOfKey(sql)} as team
    from api_keys k join users u on u.id = k.user_id left join api_keys q on q.id = k.parent_id ${joinMember(sql)}
    where k.id = any(${keyIds as string[]}::text[]) and k.revoked_at is null and q.revoked_at is null and u.disabled_at is null
      and coalesce(least(k.expires_at, q.expires_at) > ${now}, true) and ${hasMember(sql)}`;
}
