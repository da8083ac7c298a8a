import type { NoticeKind, NoticeRecord } from "@gantry/wire";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";

interface Told {
  kind: NoticeKind;
  owner: string;
  key: NoticeRecord["key"];
  period: string | null;
  limitMicros: Micros;
  valueMicros: Micros;
}

/** One sentence for people, such as receivers of a webhook that forward it. */
export function messageOf({ kind, owner, key, period, limitMicros, valueMicros }: Told): string {
  const limit = amount(limitMicros);
  if (key === null || period === null) return `The balance of ${owner} is ${amount(valueMicros)}, below ${limit}.`;
  const who = key.seat && key.member !== null ? `Member ${key.member}` : `Key ${key.name === "" ? key.id : key.name}`;
  const used = kind === "budget_spent" ? "all" : `${Math.floor((valueMicros * 100) / limitMicros)}%`;
  return `${who} of ${owner} has used ${used} of the budget of ${limit} for ${dateOf(period)}.`;
}

/** Cents, and the smaller digits of what is less than a dollar. */
function amount(micros: Micros): string {
  const dollars = Math.abs(dollarsOfMicros(micros));
  const text = dollars.toLocaleString("en-US", {
    minimumFractionDigits: 2,
    maximumFractionDigits: dollars < 0.01 ? 6 : dollars < 1 ? 4 : 2,
  });
  return `${micros < 0 ? "-" : ""}$${text}`;
}

/** `2026-11` as "November 2026", `2026-11-18` as "18 November 2026". */
function dateOf(period: string): string {
  const hasDay = period.length > "2026-11".length;
  return new Date(period).toLocaleDateString("en-GB", {
    ...(hasDay && { day: "numeric" }),
    ...{ month: "long", year: "numeric", timeZone: "UTC" },
  });
}
