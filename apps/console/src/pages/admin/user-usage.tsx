import { SeriesPanel } from "../../ui/chart/series-panel.tsx";

const range = { range: "30d" } as const;

export function UserUsage({ username }: { username: string }) {
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <SeriesPanel title="Spending" of={{ metric: "spend", group_by: "model", username }} range={range} height={160} />
      <SeriesPanel title="Requests" of={{ metric: "requests", username }} range={range} height={160} />
    </div>
  );
}
