import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/me-query.ts";
import { KeyLimitNotice } from "../../shell/key-limit-notice.tsx";
import { chosenRange } from "../../ui/chart/range.rules.ts";
import { RangePicker } from "../../ui/chart/range-picker.tsx";
import { SeriesPanel } from "../../ui/chart/series-panel.tsx";
import { money } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PendingApprovals } from "../approvals/pending-approvals.tsx";
import { FirstSteps } from "./first-steps/first-steps.tsx";
import { RecentPredictions } from "./recent-predictions.tsx";
import { RecentRuns } from "./recent-runs.tsx";
import { Tiles } from "./tiles.tsx";

const refreshMs = 10_000;
const shownRows = 6;
const route = getRouteApi("/app/");

/** What a new account has: nothing. Asked for once, so that the page does not change under a user who begins. */
const activityQuery = {
  queryKey: ["predictions", "recent"],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const [predictions, { runs }, agents] = await Promise.all([
      api.predictions.list({ page_size: shownRows, signal }),
      api.runs.list({ limit: shownRows, signal }),
      api.agents.list({ limit: 1, signal }),
    ]);
    const isNew = predictions.results.length === 0 && runs.length === 0 && agents.total === 0;
    return { predictions: predictions.results, runs, isNew };
  },
  refetchInterval: refreshMs,
};

export function OverviewPage() {
  const activity = useQuery(activityQuery);
  const balance = useQuery(meQuery).data?.balance;
  const isNew = activity.data?.isNew === true;
  const welcome = `Three ways to start.${balance === undefined ? "" : ` Your balance is ${money(balance)}.`}`;
  return (
    <Page title="Overview" lead={isNew ? welcome : "Balance, spending and recent activity."}>
      <KeyLimitNotice />
      <PendingApprovals />
      <Loaded query={activity}>
        {({ predictions, runs }) =>
          isNew ? (
            <FirstSteps />
          ) : (
            <>
              <Tiles />
              <Spending />
              <div className="grid items-start gap-5 xl:grid-cols-2">
                <Recent title="Recent predictions" all={<TextLink to="/predictions">View all</TextLink>}>
                  {predictions.length > 0 ? <RecentPredictions rows={predictions} /> : <NoPredictions />}
                </Recent>
                <Recent title="Recent runs" all={<TextLink to="/runs">View all</TextLink>}>
                  {runs.length > 0 ? <RecentRuns rows={runs} /> : <NoRuns />}
                </Recent>
              </div>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Spending() {
  const range = chosenRange(route.useSearch(), "30d");
  const navigate = route.useNavigate();
  return (
    <SeriesPanel
      title="Spending by model"
      of={{ metric: "spend", group_by: "model" }}
      range={range}
      empty="No spending in this range"
      actions={
        <RangePicker range={range} onRange={(search) => void navigate({ search, replace: true, resetScroll: false })} />
      }
    />
  );
}

function Recent({ title, all, children }: { title: string; all: ReactNode; children: ReactNode }) {
  return (
    <Panel title={title} flush actions={all}>
      {children}
    </Panel>
  );
}

function NoPredictions() {
  return (
    <Empty title="No predictions yet">
      <TextLink to="/models">Choose a model</TextLink> and try it in the browser, or{" "}
      <TextLink to="/models/connect">connect your own</TextLink>.
    </Empty>
  );
}

function NoRuns() {
  return (
    <Empty title="No runs yet">
      <TextLink to="/agents/new">Build an agent</TextLink>, or run one from the{" "}
      <TextLink to="/marketplace">marketplace</TextLink>.
    </Empty>
  );
}
