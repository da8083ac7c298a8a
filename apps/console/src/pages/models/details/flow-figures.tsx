import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { Facts } from "../../../ui/facts.tsx";
import { count } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";

const refreshMs = 2_000;
const rate = (perSecond: number) => `${perSecond.toFixed(perSecond > 0 && perSecond < 10 ? 2 : 0)} per second`;

export function FlowFigures({ model }: { model: string }) {
  const flow = useQuery({
    queryKey: ["flow", model],
    queryFn: ({ signal }) => api.flow(model, { signal }),
    refetchInterval: refreshMs,
  });
  return (
    <Panel title="Current load">
      <Loaded query={flow}>
        {({ messages_ready, messages_unacknowledged, ingress_rate, egress_rate }) => (
          <Facts
            facts={[
              ["Queued", count(messages_ready)],
              ["Running", count(messages_unacknowledged)],
              ["Accepted (last minute)", rate(ingress_rate)],
              ["Finished (last minute)", rate(egress_rate)],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
