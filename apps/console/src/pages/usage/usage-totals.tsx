import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../shell/session.ts";
import { type DayRange, momentsOf } from "../../ui/day-range.rules.ts";
import { count, money } from "../../ui/format.ts";
import { expensesQuery } from "../money/expenses-query.ts";

/** Totals of the whole range, not of the page. */
export function UsageTotals({ range, predictions }: { range: DayRange; predictions: number }) {
  const { username } = useSession();
  const { data: spent } = useQuery(expensesQuery(username, momentsOf(range)));
  return (
    <p aria-live="polite">
      <strong className="font-semibold">{count(predictions)}</strong> {predictions === 1 ? "prediction" : "predictions"}
      {spent && (
        <>
          , <strong className="font-semibold tabular-nums">{money(spent.total_spent)}</strong> spent
        </>
      )}
    </p>
  );
}
