import type { Sql, Transaction } from "../../engines/database/database.ts";
import { type Micros1970, momentOfMicros, type Span, type TimeCut, type UsageMarks } from "./time.rules.ts";

/** A text, because the driver would turn a timestamptz into a Date and lose microseconds. */
export function timeParameter(time: Micros1970): string {
  return time === Number.POSITIVE_INFINITY ? "infinity" : momentOfMicros(time);
}

/** Totals and rows of the transaction agree. */
export async function readFromOneSnapshot(tx: Transaction): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`;
}

export const micros1970 = (sql: Sql, time: ReturnType<Sql>) => sql`(extract(epoch from ${time}) * 1000000)::bigint`;

export const momentOf = (sql: Sql, time: ReturnType<Sql>) =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

export async function selectMarks(sql: Sql, userId: string): Promise<UsageMarks> {
  const [marks] = await sql<UsageMarks[]>`
    select ${micros1970(sql, sql`clock_timestamp()`)} as now,
      coalesce(${micros1970(sql, sql`days_before`)}, 0) as "daysBefore",
      coalesce(${micros1970(sql, sql`horizon`)}, 0) as horizon,
      ${micros1970(sql, sql`greatest(folded_until, 'epoch')`)} as "foldedUntil"
    from usage_marks, wallets where user_id = ${userId}`;
  if (!marks) throw new Error("usage_marks or the user's wallet is missing");
  return marks;
}

export function cutParameters({ days, hours, rows }: TimeCut) {
  const from = (spans: readonly Span[]) => spans.map((span) => timeParameter(span.from));
  const to = (spans: readonly Span[]) => spans.map((span) => timeParameter(span.to));
  return {
    days: { from: timeParameter(days.from), to: timeParameter(days.to) },
    hours: { from: from(hours), to: to(hours) },
    rows: { from: from(rows), to: to(rows), sign: rows.map((one) => one.sign as number) },
  };
}
