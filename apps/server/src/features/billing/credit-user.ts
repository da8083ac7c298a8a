import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";
import { type CreditRequest, creditReference, mostInWallet } from "./credit-request.rules.ts";
import { type CreditEntry, findCredit, insertCreditEntry, lockBalance, selectUserId } from "./credit-store.ts";

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
