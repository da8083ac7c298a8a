import { createHash } from "node:crypto";
import { creditBody } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros, microsOfDollars } from "../../kernel/money.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { record } from "../audit/index.ts";

export interface CreditRequest {
  /** Negative for a correction. Never zero. */
  amount: Micros;
  reason: string;
}

/** Far above any real balance, and far below the largest exact integer. */
export const mostInWallet: Micros = microsOfDollars(1_000_000_000);

export function readCreditRequest(body: unknown): CreditRequest {
  const { amount, reason } = parseOrThrow(creditBody, body, ["body"]);
  return { amount: microsOfDollars(amount), reason };
}

/** The ledger reference of a credit with an Idempotency-Key: the same for the same admin, user and key. */
export function creditReference(
  key: string | string[] | undefined,
  { adminId, userId }: { adminId: string; userId: string },
): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw fault("value_error", "Idempotency-Key must have 1 to 255 visible ASCII characters without spaces", {
      loc: ["header", "idempotency-key"],
    });
  }
  return `credit:${adminId}:${userId}:${createHash("sha256").update(key).digest("hex")}`;
}

export interface Credited {
  balance: Micros;
  entry: CreditEntry;
}

/**
 * Adds money to a wallet or removes some, as a ledger entry. With an Idempotency-Key, a repeat receives the first answer. The
 * key never expires, because admins may repeat a credit by hand days later. The wallet is locked first, so that of two
 * concurrent requests one finds the entry of the other.
 */
export async function creditUser(
  database: Database,
  {
    adminId,
    username,
    request,
    idempotencyKey,
  }: {
    adminId: string;
    username: string;
    request: CreditRequest;
    idempotencyKey: string | string[] | undefined;
  },
): Promise<Credited> {
  return database.transaction(async (tx) => {
    const userId = await selectUserId(tx, username);
    if (userId === undefined) throw fault("not_found", "User not found");
    const reference = creditReference(idempotencyKey, { adminId, userId });
    const balance = await lockBalance(tx, userId);
    if (balance === undefined) throw new Error("a user has no wallet");
    const earlier = reference && (await findCredit(tx, reference));
    if (earlier) {
      if (earlier.amount !== request.amount || earlier.reason !== request.reason) {
        throw fault("idempotency_key_reused", "This Idempotency-Key was used for another amount or reason", {
          loc: ["header", "idempotency-key"],
        });
      }
      return { balance: earlier.balance, entry: earlier };
    }
    if (Math.abs(balance + request.amount) > mostInWallet) {
      const most = dollarsOfMicros(mostInWallet);
      throw fault("value_error", `The balance must stay between -${most} and ${most}`, { loc: ["body", "amount"] });
    }
    const entry = await insertCreditEntry(tx, { userId, ...request, reference });
    if (!entry) throw new Error("a credit was neither there nor written");
    await recordCredit(tx, { id: userId, username }, entry);
    return { balance: entry.balance, entry };
  });
}

function recordCredit(tx: Sql, user: { id: string; username: string }, entry: CreditEntry): Promise<void> {
  return record(tx, {
    action: "credit.add",
    object: { id: String(entry.id), name: user.username },
    ownerId: user.id,
    after: {
      amount: dollarsOfMicros(entry.amount),
      reason: entry.reason,
      balance: dollarsOfMicros(entry.balance),
    },
  });
}

/** Grants the balance of a new user once, on any number of calls and nodes. True if this call granted it. */
export async function grantOpeningBalance(database: Database, userId: string, amount: Micros): Promise<boolean> {
  const opening = { userId, amount, reason: "Opening balance", reference: `opening:${userId}` };
  return (await insertCreditEntry(database.sql, opening)) !== undefined;
}

/** Moves the balance of a deleted account outside, so that nothing is left in its wallet. */
export async function emptyWallet(tx: Sql, userId: string, why: { reason: string; reference: string }): Promise<void> {
  const balance = await lockBalance(tx, userId);
  if (balance) await insertCreditEntry(tx, { userId, amount: -balance, ...why });
}

export interface CreditEntry {
  id: number;
  recordedAt: Date;
  amount: Micros;
  reason: string;
  balance: Micros;
}

/** Users with the role `system` have no part in billing. */
export async function selectUserId(sql: Sql, username: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from users where username = ${username} and role <> 'system'`;
  return row?.id;
}

export async function lockBalance(sql: Sql, userId: string): Promise<Micros | undefined> {
  const [row] = await sql<{ balance: Micros }[]>`
    select balance_micros as balance from wallets where user_id = ${userId} for update`;
  return row?.balance;
}

const entryFields = (sql: Sql) => sql`
  id, recorded_at as "recordedAt", reason, balance_micros as balance,
  case when from_account = 'outside' then amount_micros else -amount_micros end as amount`;

export async function findCredit(sql: Sql, reference: string): Promise<CreditEntry | undefined> {
  const [entry] = await sql<CreditEntry[]>`
    select ${entryFields(sql)} from ledger where kind in ('credit', 'correction') and reference = ${reference}`;
  return entry;
}

/** Moves money between the outside and a wallet. Undefined if an entry with this reference exists. */
export async function insertCreditEntry(
  sql: Sql,
  credit: { userId: string; amount: Micros; reason: string; reference: string | undefined },
): Promise<CreditEntry | undefined> {
  const wallet = `user:${credit.userId}`;
  const [kind, from, to] = credit.amount > 0 ? ["credit", "outside", wallet] : ["correction", wallet, "outside"];
  const [entry] = await sql<CreditEntry[]>`
    select ${entryFields(sql)}
    from move_money(${kind}, ${from}, ${to}, ${Math.abs(credit.amount)}, ${credit.reference ?? null}, ${credit.reason})`;
  return entry;
}
