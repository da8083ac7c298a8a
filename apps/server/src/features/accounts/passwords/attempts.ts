import type { Sql } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Client } from "../sign-in-options.ts";

interface Bucket {
  name: string;
  /** Attempts at once. */
  burst: number;
  /** Until an attempt comes back. */
  seconds: number;
}

/**
 * Sign-ins that fail count for the address, and for the user or the device. A device that has signed in as the user before
 * has its own bucket: strangers who guess passwords of a user do not lock the user out.
 */
export function bucketsOf(username: string, device: string | undefined, client: Client): Bucket[] {
  const whose =
    device === undefined
      ? { name: `user ${username}`, burst: 10, seconds: 30 }
      : { name: `device ${device}`, burst: 10, seconds: 30 };
  const address = client.address === null ? "unknown" : networkOf(client.address);
  // People behind one address share it. Behind a proxy that is not trusted, everyone does.
  const from = client.isShared ? { burst: 300, seconds: 1 } : { burst: 30, seconds: 10 };
  return [whose, { name: address, ...from }];
}

/** Of IPv6, a customer has at least a /64. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const [first, last] = [head, tail].map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - (first?.length ?? 0) - (last?.length ?? 0)) }, () => "0");
  return [...(first ?? []), ...(address.includes("::") ? zeros : []), ...(last ?? [])].slice(0, 4).join(":");
}

/** Throws `rate_limit` if one of the buckets is empty. Exact over all nodes. */
export async function takeAttempt(sql: Sql, buckets: readonly Bucket[]): Promise<void> {
  const [row] = await sql<{ wait: number }[]>`
    select take_sign_in_attempt(${buckets.map(({ name }) => name)}::text[],
      ${buckets.map(({ burst }) => burst)}::int[], ${buckets.map(({ seconds }) => seconds)}::int[]) as wait`;
  const wait = row?.wait ?? 0;
  if (wait === 0) return;
  throw fault("rate_limit", `Too many failed attempts. Try again in ${wait} ${wait === 1 ? "second" : "seconds"}.`, {
    retryAfterSeconds: wait,
  });
}

export async function returnAttempt(sql: Sql, buckets: readonly Bucket[]): Promise<void> {
  await sql`
    select return_sign_in_attempt(${buckets.map(({ name }) => name)}::text[],
      ${buckets.map(({ seconds }) => seconds)}::int[])`;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteFullBuckets(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from sign_in_attempts where bucket in (
      select bucket from sign_in_attempts where full_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
