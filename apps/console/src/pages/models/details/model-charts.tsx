import { seesOwnUsageOnly } from "../../../shell/key-access.rules.ts";
import { useSession } from "../../../shell/session.ts";
import { type RangeName, rangeLabel, rangeNames, rangeTitles, shortRangeNames } from "../../../ui/chart/range.rules.ts";
import { SeriesPanel } from "../../../ui/chart/series-panel.tsx";
import { ViewSwitch } from "../../../ui/view-switch.tsx";
import { useModelAddress } from "../use-model-address.ts";

const usualRange: RangeName = "7d";
const optionOf = (value: RangeName) => ({ value, label: rangeLabel(value), title: `Last ${rangeTitles[value]}` });

/** How the model answered you. */
export function ModelCharts({ model }: { model: string }) {
  const { search, change } = useModelAddress();
  const chosen = search.range ?? usualRange;
  const range = { range: chosen };
  const names = seesOwnUsageOnly(useSession().key) ? shortRangeNames : rangeNames;
  const byStatus = shortRangeNames.includes(chosen) ? ({ group_by: "status" } as const) : {};
  return (
    <section className="flex flex-col gap-3" aria-labelledby="model-activity">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="model-activity" className="font-semibold">
          Your activity
        </h2>
        <ViewSwitch
          label="Time range"
          options={names.map(optionOf)}
          value={chosen}
          onValue={(wanted) => change({ range: wanted === usualRange ? undefined : wanted })}
        />
      </div>
      <div className="grid gap-5 lg:grid-cols-2">
        <SeriesPanel title="Requests" of={{ metric: "requests", model, ...byStatus }} range={range} height={170} />
        <SeriesPanel
          title="Errors"
          of={{ metric: "errors", model }}
          range={range}
          height={170}
          empty="No errors in this range"
        />
        <SeriesPanel title="Latency (p50, p95)" of={{ metric: "latency", model }} range={range} height={170} />
        <SeriesPanel title="Spending" of={{ metric: "spend", model }} range={range} height={170} />
      </div>
    </section>
  );
}
