import type { KeyRecord } from "@gantry/sdk";
import { money } from "../../ui/format.ts";

interface BudgetProps {
  spent: number;
  limit: number;
  period: string;
}

function Budget({ spent, limit, period }: BudgetProps) {
  const share = limit === 0 ? 1 : Math.min(1, spent / limit);
  return (
    <div className="max-w-48">
      <p className="tabular-nums">
        <span className="whitespace-nowrap">
          {money(spent)} <span className="text-muted">of {money(limit)}</span>
        </span>{" "}
        <span className="whitespace-nowrap text-muted">{period}</span>
      </p>
      <div className="mt-1 h-1 overflow-hidden rounded-full bg-sunken" aria-hidden>
        <div
          className={`h-full rounded-full ${share >= 1 ? "bg-bad" : share >= 0.8 ? "bg-warn" : "bg-good"}`}
          style={{ width: `${100 * share}%` }}
        />
      </div>
    </div>
  );
}

/** The limits of a key, and what it has spent of them. */
export function KeySpending({ apiKey }: { apiKey: KeyRecord }) {
  const { spent, monthly_limit, spent_today, daily_limit, tokens_per_minute } = apiKey;
  if (monthly_limit === null && daily_limit === null && tokens_per_minute === null)
    return <span className="text-muted">No limit</span>;
  return (
    <div className="flex flex-col gap-1">
      {monthly_limit !== null && <Budget spent={spent ?? 0} limit={monthly_limit} period="this month" />}
      {daily_limit !== null && <Budget spent={spent_today ?? 0} limit={daily_limit} period="today" />}
      {tokens_per_minute !== null && (
        <p className="whitespace-nowrap tabular-nums">
          {tokens_per_minute.toLocaleString("en-US")} <span className="text-muted">tokens per minute</span>
        </p>
      )}
    </div>
  );
}
