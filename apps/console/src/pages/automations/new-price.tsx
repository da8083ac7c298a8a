import type { ScheduleRecord, TriggerRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { money } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { agentQuery, isOwn } from "../agents/agent-queries.ts";

type Automation = ScheduleRecord | TriggerRecord;

/** What a run of another user's agent costs now, if that is not the accepted price. */
export function useNewPrice({ agent_id, expected_price: accepted }: Automation): number | undefined {
  const { data: agent } = useQuery({ ...agentQuery(agent_id), enabled: accepted !== null });
  if (accepted === null || !agent || isOwn(agent) || agent.pricing.per_run === accepted) return undefined;
  return agent.pricing.per_run;
}

interface NewPriceProps {
  of: Automation;
  kind: "schedule" | "trigger";
  price: number;
}

export function NewPrice({ of: { id, status, expected_price }, kind, price }: NewPriceProps) {
  const queries = useQueryClient();
  const isPaused = status === "paused";
  const accepting = useMutation({
    mutationFn: async () => {
      const change = { expected_price: price, ...(isPaused && { enabled: true }) };
      if (kind === "schedule") await api.schedules.update(id, change);
      else await api.triggers.update(id, change);
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: [`${kind}s`] });
      toast(isPaused ? "Price accepted and resumed" : "Price accepted");
    },
  });
  return (
    <Notice tone="warn" title={`Each run now costs ${money(price)}`}>
      <p>
        You accepted {money(expected_price ?? 0)}. This {kind} starts no run until you accept the new price.
      </p>
      <Button className="mt-2" busy={accepting.isPending} onClick={() => accepting.mutate()}>
        Accept {money(price)}
        {isPaused && " and resume"}
      </Button>
    </Notice>
  );
}
