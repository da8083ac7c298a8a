import { createHash } from "node:crypto";
import { creditBody } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros, microsOfDollars } from "../../kernel/money.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";

export interface CreditRequest {
  /** Negative takes money away. Never zero. */
  amount: Micros;
  reason: string;
}

/** Far above all use, and far below where a number stops being exact. */
export const mostInWallet: Micros = microsOfDollars(1_000_000_000);

/** Reads `{amount, reason}`; everything that is wrong with it comes in one fault. */
export function readCreditRequest(body: unknown): CreditRequest {
  const { amount, reason } = parseOrThrow(creditBody, body, ["body"]);
  return { amount: microsOfDollars(amount), reason };
}

/**
 * The ledger's reference of a credit that was sent with an `Idempotency-Key`: the same for the same admin, user and key.
 * Undefined without a key.
 */
export function creditReference(
  key: string | string[] | undefined,
  { adminId, userId }: { adminId: string; userId: string },
): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw fault("value_error", "The Idempotency-Key must have 1 to 255 visible characters without spaces", {
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
 * Adds money to a wallet or takes some away, as an entry of the ledger. With an `Idempotency-Key` a repeat gets the first
 * answer and moves nothing. The key is part of the ledger, which forgets nothing, so it never expires: credits may be
 * repeated by hand days later. The wallet is locked first, so that of two equal requests at the same moment one finds the
 * other's entry.
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
    return { balance: entry.balance, entry };
  });
}

/** What a user begins with, once, however often it is called and by however many nodes. True when it was given now. */
export async function grantOpeningBalance(database: Database, userId: string, amount: Micros): Promise<boolean> {
  const opening = { userId, amount, reason: "Opening balance", reference: `opening:${userId}` };
  return (await insertCreditEntry(database.sql, opening)) !== undefined;
}

export interface CreditEntry {
  id: number;
  recordedAt: Date;
  /** Negative for a correction that took money away. */
  amount: Micros;
  reason: string;
  /** What it left in the wallet. */
  balance: Micros;
}

/** Users of the role `system` have nothing to do with money. */
export async function selectUserId(sql: Sql, username: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from users where username = ${username} and role <> 'system'`;
  return row?.id;
}

/** The balance, held still until the end of the transaction; undefined when there is no such user. */
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

/** Moves money between the outside and a wallet. Undefined when the same movement with this reference is there already. */
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
