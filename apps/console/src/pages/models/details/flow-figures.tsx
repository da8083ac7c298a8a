import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { Facts } from "../../../ui/facts.tsx";
import { count } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";

const everyMs = 2_000;
const rate = (perSecond: number) => `${perSecond.toFixed(perSecond > 0 && perSecond < 10 ? 2 : 0)} a second`;

/** The queue of the model as it is now, asked again as long as it is looked at. */
export function FlowFigures({ model }: { model: string }) {
  const flow = useQuery({
    queryKey: ["flow", model],
    queryFn: ({ signal }) => api.flow(model, { signal }),
    refetchInterval: everyMs,
  });
  return (
    <Panel title="Now">
      <Loaded query={flow}>
        {({ messages_ready, messages_unacknowledged, ingress_rate, egress_rate }) => (
          <Facts
            facts={[
              ["Waiting", count(messages_ready)],
              ["Running", count(messages_unacknowledged)],
              ["Accepted, over the last minute", rate(ingress_rate)],
              ["Ended, over the last minute", rate(egress_rate)],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
