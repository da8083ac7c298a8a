import type { LedgerRecord } from "@gantry/sdk";
import { count, money } from "../../ui/format.ts";

type Discrepancy = LedgerRecord["discrepancies"][number];
type Unit = "money" | "count";

/** Text for each broken rule, and the unit of its two figures. */
const rules: Record<string, readonly [text: string, unit: Unit]> = {
  sum_of_accounts: ["The accounts do not add up to zero", "money"],
  wallet_balance: ["A balance is not the sum of its transactions", "money"],
  unknown_account: ["A transaction names an account that does not exist", "money"],
  missing_wallet: ["A user has no wallet", "count"],
  entry_between_others: ["A transaction connects accounts that its type does not allow", "money"],
  wallet_reserved: ["The amount on hold does not match queued and running work", "money"],
  wallet_running: ["The count of a user's running predictions is wrong", "count"],
  model_running: ["The count of a model's running predictions is wrong", "count"],
  model_waiting: ["The count of a model's queued predictions is wrong", "count"],
  charge_without_usage: ["A charge has no usage record", "money"],
  usage_without_charge: ["A usage record has no charge", "money"],
  charge_of_another_wallet: ["The wrong user was charged", "money"],
  charge_at_another_time: ["The charge and its usage record have different times", "money"],
  charge_amount: ["The charge differs from the price", "money"],
  usage_twice: ["A usage record exists more than once", "count"],
  hour_requests: ["The request count of an hour is wrong", "count"],
  hour_paid_requests: ["The count of paid requests of an hour is wrong", "count"],
  hour_spent: ["The spending of an hour is wrong", "money"],
  day_requests: ["The request count of a day is wrong", "count"],
  day_paid_requests: ["The count of paid requests of a day is wrong", "count"],
  day_spent: ["The spending of a day is wrong", "money"],
  days_charged: ["The total of all days is wrong", "money"],
  key_reserved: ["The amount on hold for a key does not match its running work", "money"],
  key_spent_too_little: ["A key spent more than its counter shows", "money"],
  key_spent_too_much: ["The counters of a user's keys exceed the user's charges", "money"],
};

/** The API cuts long lists and reports the remaining count as a last entry. */
const isRest = ({ subject }: Discrepancy): boolean => /^and \d+ more$/.test(subject);

/** Falls back to the wire name of a rule that this table does not know. */
export function discrepancyText(discrepancy: Discrepancy): string {
  if (isRest(discrepancy)) return `More discrepancies of the check “${discrepancy.rule}”`;
  return rules[discrepancy.rule]?.[0] ?? discrepancy.rule;
}

/** The API reports money in millionths of a dollar. */
export function figureOf(discrepancy: Discrepancy, value: number | null): string {
  if (value === null) return "None";
  const isMoney = rules[discrepancy.rule]?.[1] === "money" && !isRest(discrepancy);
  return isMoney ? money(value / 1_000_000) : count(value);
}
