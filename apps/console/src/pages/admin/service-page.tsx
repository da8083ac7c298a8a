import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { LedgerPanel } from "./ledger-panel.tsx";
import { OnlyAdmins } from "./only-admins.tsx";
import { ServiceCharts } from "./service-charts.tsx";
import { KeptPanel, ServiceFigures, SpendingPanel, TopModels } from "./service-figures.tsx";

const refreshMs = 10_000;
const title = "Service";

export function ServicePage() {
  return (
    <OnlyAdmins title={title}>
      <Service />
    </OnlyAdmins>
  );
}

function Service() {
  const overview = useQuery({
    queryKey: ["admin", "overview"],
    queryFn: ({ signal }) => api.admin.overview({ signal }),
    refetchInterval: refreshMs,
  });
  return (
    <Page title={title} lead="Load, users, spending and ledger of this installation." actions={<Readiness />}>
      <Loaded query={overview}>
        {(data) => (
          <>
            <ServiceFigures overview={data} />
            <ServiceCharts />
            <div className="grid items-start gap-5 lg:grid-cols-2">
              <div className="flex min-w-0 flex-col gap-5">
                <SpendingPanel overview={data} />
                <TopModels models={data.top_models} />
              </div>
              <div className="flex min-w-0 flex-col gap-5">
                <LedgerPanel books={data.books} />
                <KeptPanel keeps={data.keeps} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The same health checks that a load balancer uses. */
function Readiness() {
  const health = useQuery({
    queryKey: ["health"],
    queryFn: async ({ signal }) => {
      const [isUp, isReady] = await Promise.all([api.isUp({ signal }), api.isReady({ signal })]);
      return { isUp, isReady };
    },
    refetchInterval: refreshMs,
  });
  return (
    <span role="status">
      {!health.data ? (
        <Badge>Checking</Badge>
      ) : health.data.isReady ? (
        <Badge tone="good">Ready</Badge>
      ) : health.data.isUp ? (
        <Badge tone="warn">Up, not ready</Badge>
      ) : (
        <Badge tone="bad">Not responding</Badge>
      )}
    </span>
  );
}
