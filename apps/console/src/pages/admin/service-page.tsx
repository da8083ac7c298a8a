import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Books } from "./books.tsx";
import { OnlyAdmins } from "./only-admins.tsx";
import { ServiceFigures, TopModels, TurnoverPanel } from "./service-figures.tsx";

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
    <Page title={title} lead="The whole installation on one page." actions={<Readiness />}>
      <Loaded query={overview}>
        {(data) => (
          <>
            <ServiceFigures overview={data} />
            <div className="grid items-start gap-5 lg:grid-cols-2">
              <div className="flex min-w-0 flex-col gap-5">
                <TurnoverPanel overview={data} />
                <TopModels models={data.top_models} />
              </div>
              <Books books={data.books} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** What a load balancer is told: whether the server lives, and whether it takes work. */
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
        <Badge>asking</Badge>
      ) : health.data.isReady ? (
        <Badge tone="good">ready</Badge>
      ) : health.data.isUp ? (
        <Badge tone="warn">up, but not ready for work</Badge>
      ) : (
        <Badge tone="bad">does not answer</Badge>
      )}
    </span>
  );
}
