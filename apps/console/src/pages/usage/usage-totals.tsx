import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { count, money } from "../../ui/format.ts";
import { type DayRange, momentsOf } from "./day-range.rules.ts";

/** Before there was anything to count. */
const longAgo = "2000-01-01T00:00:00Z";

/** The sum of a range, not of a page of it. */
export function UsageTotals({ range, predictions }: { range: DayRange; predictions: number }) {
  const { first, last } = momentsOf(range);
  const { data: spent } = useQuery({
    queryKey: ["expenses", "total", range],
    queryFn: ({ signal }) => api.account.expenses({ start_date: first ?? longAgo, end_date: last, signal }),
    placeholderData: (before) => before,
  });
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
