import type { LedgerRecord } from "@gantry/sdk";
import { count, money } from "../../ui/format.ts";

type Discrepancy = LedgerRecord["discrepancies"][number];
type Unit = "money" | "count";

/** What each rule of the books says when it is broken, and in what its two figures are counted. */
const rules: Record<string, readonly [words: string, unit: Unit]> = {
  sum_of_accounts: ["All accounts together do not add up to zero", "money"],
  wallet_balance: ["A balance is not the sum of its movements", "money"],
  unknown_account: ["Money moved to or from an account that nobody has", "money"],
  missing_wallet: ["A user has no wallet", "count"],
  entry_between_others: ["Money moved between accounts that this kind of movement does not join", "money"],
  wallet_reserved: ["What is reserved is not what runs and waits", "money"],
  wallet_running: ["The count of what a user runs is wrong", "count"],
  model_running: ["The count of what runs on a model is wrong", "count"],
  model_waiting: ["The count of what waits for a model is wrong", "count"],
  charge_without_usage: ["Something was paid that is not in the usage", "money"],
  usage_without_charge: ["Something in the usage was not paid", "money"],
  charge_of_another_wallet: ["Somebody else paid for it", "money"],
  charge_at_another_time: ["It was paid at another time than it was used", "money"],
  charge_amount: ["What was paid is not its price", "money"],
  usage_twice: ["Something is in the usage more than once", "count"],
  hour_requests: ["The requests of an hour are miscounted", "count"],
  hour_paid_requests: ["The paid requests of an hour are miscounted", "count"],
  hour_spent: ["What was spent in an hour is wrongly added up", "money"],
  day_requests: ["The requests of a day are miscounted", "count"],
  day_paid_requests: ["The paid requests of a day are miscounted", "count"],
  day_spent: ["What was spent in a day is wrongly added up", "money"],
  days_charged: ["What all days took is wrongly added up", "money"],
  key_reserved: ["What is reserved for a key is not what runs with it", "money"],
  key_spent_too_little: ["A key spent more than was counted for it", "money"],
  key_spent_too_much: ["More was counted for keys than their owner paid", "money"],
};

/** What did not fit in the list is counted in its last line, under the name of the check. */
const isRest = ({ subject }: Discrepancy): boolean => /^and \d+ more$/.test(subject);

/** One that is newer than this table is named as the service names it. */
export function wordsOfDiscrepancy(discrepancy: Discrepancy): string {
  if (isRest(discrepancy)) return `More of the check “${discrepancy.rule}”`;
  return rules[discrepancy.rule]?.[0] ?? discrepancy.rule;
}

/** Money is in millionths of a dollar there. */
export function figureOf(discrepancy: Discrepancy, value: number | null): string {
  if (value === null) return "nothing";
  const isMoney = rules[discrepancy.rule]?.[1] === "money" && !isRest(discrepancy);
  return isMoney ? money(value / 1_000_000) : count(value);
}
