import { type Fault, fault } from "../../kernel/errors.ts";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";
import type { RunsContext } from "./context.ts";
import {
  type Counted,
  countedNowhere,
  type Funds,
  type KeyBudget,
  lockFunds,
  type NewRun,
  reservePrice,
} from "./create-store.ts";

type Tx = Parameters<typeof lockFunds>[0];

/**
 * Reserves the price of a run. The price goes to another user, who can spend it, so wallet and key must cover all of it:
 * a wallet that went below zero here would create money. Returns where the limits of the key and its parent count it.
 */
export async function reserve({ clock }: Pick<RunsContext, "clock">, tx: Tx, run: NewRun): Promise<Counted> {
  const { userId, keyId, price } = run;
  if (price === 0) return countedNowhere;
  const today = clock.now().toISOString().slice(0, 10);
  const funds = await lockFunds(tx, userId, keyId, today);
  const left = tightest(funds.budgets);
  if (funds.balance - funds.reserved < price || (left && left.micros < price)) throw notCovered(run, funds, left);
  const counted = countedIn(funds.budgets, today);
  await reservePrice(tx, run, counted);
  return counted;
}

interface Left {
  micros: Micros;
  period: string;
}

/** What the key may still spend by the tightest of its limits and those of its parent. */
function tightest(budgets: readonly KeyBudget[]): Left | undefined {
  const all = budgets.flatMap(({ monthLeft, dayLeft }): Left[] => [
    ...(monthLeft === null ? [] : [{ micros: monthLeft, period: "this month" }]),
    ...(dayLeft === null ? [] : [{ micros: dayLeft, period: "today" }]),
  ]);
  return all.toSorted((a, b) => a.micros - b.micros)[0];
}

function countedIn(budgets: readonly KeyBudget[], today: string): Counted {
  const month = `${today.slice(0, 7)}-01`;
  const own = budgets.find(({ isParent }) => !isParent);
  const parent = budgets.find(({ isParent }) => isParent);
  const periods = (of: KeyBudget | undefined) =>
    [of?.monthLeft == null ? null : month, of?.dayLeft == null ? null : today] as const;
  const [[keyMonth, keyDay], [parentMonth, parentDay]] = [periods(own), periods(parent)];
  return { keyMonth, keyDay, parentKeyId: parent?.keyId ?? null, parentMonth, parentDay };
}

/** A sub-agent's failure is shown to the agent that called it, which must not learn its caller's balance. */
function notCovered({ ancestors, price }: NewRun, { balance, reserved }: Funds, left: Left | undefined): Fault {
  if (ancestors.length > 0) {
    return fault(
      "insufficient_funds",
      "The balance or the budget of the API key does not cover the price of an agent that the run calls",
    );
  }
  const costs = `this run costs ${inDollars(price)}`;
  if (balance - reserved >= price && left) {
    const may = `The API key may still spend ${inDollars(Math.max(0, left.micros))} ${left.period}`;
    return fault("insufficient_funds", `${may}; ${costs}. Use another key or choose a cheaper agent.`);
  }
  const held = reserved > 0 ? `, of which ${inDollars(reserved)} is reserved` : "";
  return fault(
    "insufficient_funds",
    `Balance is ${inDollars(balance)}${held}; ${costs}. Add credit or choose a cheaper agent.`,
  );
}

/** `expected` is the price that the caller was shown, in dollars. */
export function requirePrice({ price, userId, ownerId }: NewRun, expected: number | undefined): void {
  const now = dollarsOfMicros(price);
  // Your own agent costs you no price, whatever others pay.
  if (expected === undefined || expected === now || userId === ownerId) return;
  throw fault(
    "conflict",
    `The price of this agent is now $${now}, not $${expected}. Confirm the new price and run the agent again.`,
    { loc: ["body", "expected_price"], ctx: { per_run: now, expected_price: expected } },
  );
}

function inDollars(amount: Micros): string {
  return `${amount < 0 ? "-" : ""}$${dollarsOfMicros(Math.abs(amount))}`;
}
