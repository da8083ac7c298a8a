import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import { everythingOf } from "../accounts/index.ts";
import { momentOfMicros, spanOf, type TimeRange, withinRows } from "./time.rules.ts";
import { readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { usageRows } from "./usage.ts";

export interface MemberUsage {
  /** Null: no member started it. */
  member: string | null;
  requests: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  spent: Micros;
}

const day = 86_400_000_000;
const longest = 31 * day;

/** The usage of a team by member, or of one member. Sums exist for owners only, so rows are added up. */
export async function readMemberUsage(
  database: Database,
  teamId: string,
  range: TimeRange,
  { memberId, limit, offset }: { memberId: string | undefined; limit: number; offset: number },
): Promise<{ entries: MemberUsage[]; total: number }> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, teamId)]);
    const from = range.from ?? momentOfMicros(startOfMonth(marks.now));
    const span = spanOf({ ...range, from }, marks.now);
    if (Math.min(span.to, marks.now) - span.from > longest + day) {
      const text = "By member, the range is at most 31 days. Choose a shorter range.";
      throw fault("value_error", text, { loc: ["query", "from_date"] });
    }
    const rows = tx`
      ${usageRows(tx, everythingOf(teamId), withinRows(span, marks))}
      left join api_keys k on k.id = usage.key_id left join users person on person.id = k.member_id
      ${memberId === undefined ? tx`` : tx`where k.member_id = ${memberId}`}`;
    const entries = await tx<(MemberUsage & { total: number })[]>`
      select person.username as member, count(*) filter (where not is_sale(usage.model_name))::int as requests,
        count(*) filter (where usage.status >= 400 and usage.status <> 499)::int as errors,
        coalesce(sum(usage.input_tokens), 0)::bigint as "inputTokens",
        coalesce(sum(usage.output_tokens), 0)::bigint as "outputTokens",
        sum(usage.price_micros)::bigint as spent, (count(*) over ())::int as total
      from ${rows} group by person.username order by spent desc, person.username limit ${limit} offset ${offset}`;
    if (entries[0] || offset === 0) return { entries, total: entries[0]?.total ?? 0 };
    const [{ total }] = await tx<[{ total: number }]>`
      select count(*)::int as total from (select from ${rows} group by person.username) members`;
    return { entries, total };
  });
}

function startOfMonth(now: number): number {
  const at = new Date(now / 1000);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth()) * 1000;
}
