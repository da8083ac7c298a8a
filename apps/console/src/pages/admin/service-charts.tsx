import { getRouteApi } from "@tanstack/react-router";
import { chosenRange } from "../../ui/chart/range.rules.ts";
import { RangePicker } from "../../ui/chart/range-picker.tsx";
import { SeriesPanel } from "../../ui/chart/series-panel.tsx";

const route = getRouteApi("/app/admin");

/** The load of all users together, one request for each chart. */
export function ServiceCharts() {
  const range = chosenRange(route.useSearch(), "24h");
  const navigate = route.useNavigate();
  const scope = "service";
  return (
    <section aria-label="Load" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">Load</h2>
        <RangePicker range={range} onRange={(search) => void navigate({ search, replace: true, resetScroll: false })} />
      </div>
      <div className="grid gap-5 lg:grid-cols-2 xl:grid-cols-3">
        <SeriesPanel
          title="Requests"
          of={{ metric: "requests", group_by: "model", scope }}
          range={range}
          height={180}
        />
        <SeriesPanel
          title="Errors"
          of={{ metric: "errors", group_by: "model", scope }}
          range={range}
          height={180}
          empty="No errors in this range"
        />
        <SeriesPanel
          title="Latency"
          of={{ metric: "latency", scope }}
          range={range}
          height={180}
          note="Of successful predictions, without the queue."
        />
        <SeriesPanel
          title="Queue depth"
          of={{ metric: "queue", scope }}
          range={range}
          height={180}
          note="Predictions waiting for a slot."
        />
        <SeriesPanel
          title="Running"
          of={{ metric: "running", scope }}
          range={range}
          height={180}
          note="Predictions running at the same time."
        />
        <SeriesPanel
          title="Servers"
          of={{ metric: "nodes", scope }}
          range={range}
          height={180}
          note="Nodes with a heartbeat."
        />
      </div>
    </section>
  );
}
