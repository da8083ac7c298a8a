import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Copyable } from "../../../ui/copyable.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Empty, Loaded } from "../../../ui/notice.tsx";
import { isOfAnother, OpenAsOwner } from "../../../ui/open-as-owner.tsx";
import { Page, Panel } from "../../../ui/page.tsx";
import { predictionQuery } from "../prediction-queries.ts";
import { InputPanel } from "./input-panel.tsx";
import { OutputPanel } from "./output-panel.tsx";
import { PredictionActions } from "./prediction-actions.tsx";
import { PredictionFacts } from "./prediction-facts.tsx";
import { Timeline } from "./timeline.tsx";

const route = getRouteApi("/app/predictions/$id");

export function PredictionPage() {
  const { id } = route.useParams();
  const prediction = useQuery(predictionQuery(id));
  const { data, error } = prediction;
  if (!data && isOfAnother(error)) return <NotFound id={id} />;
  return (
    <Page
      title={data?.model_name ?? "Prediction"}
      lead="A prediction with its input, output and cost."
      actions={data && <PredictionActions prediction={data} />}
    >
      <Loaded query={prediction}>
        {(found) => (
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_23rem]">
            <div className="flex min-w-0 flex-col gap-5">
              <InputPanel prediction={found} />
              <OutputPanel prediction={found} />
            </div>
            <aside className="flex min-w-0 flex-col gap-5 max-lg:order-first">
              <Panel title="Details">
                <div className="flex flex-col gap-5">
                  <Timeline prediction={found} />
                  <PredictionFacts prediction={found} />
                </div>
              </Panel>
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function NotFound({ id }: { id: string }) {
  return (
    <Page title="Prediction">
      <Panel>
        <Empty title="Prediction not found">
          <p>
            You have no prediction with this id, or its usage has expired. See{" "}
            <TextLink to="/predictions">all predictions</TextLink>.
          </p>
          <div className="mt-3 flex justify-center">
            <Copyable text={id} />
          </div>
          <OpenAsOwner />
        </Empty>
      </Panel>
    </Page>
  );
}
