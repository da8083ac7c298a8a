import type { BatchRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { count } from "../../ui/format.ts";
import type { Tone } from "../../ui/toast.ts";

const words: Readonly<Record<BatchRecord["status"], readonly [word: string, tone: Tone]>> = {
  validating: ["Validating", "info"],
  failed: ["Failed", "bad"],
  in_progress: ["Running", "info"],
  finalizing: ["Writing results", "info"],
  completed: ["Completed", "good"],
  expired: ["Expired", "warn"],
  cancelling: ["Cancelling", "plain"],
  cancelled: ["Cancelled", "plain"],
};

export function BatchStatus({ status }: Pick<BatchRecord, "status">) {
  const [word, tone] = words[status];
  return <Badge tone={tone}>{word}</Badge>;
}

/** For example "40 of 41, 1 failed". */
export function BatchProgress({ request_counts: { total, completed, failed } }: Pick<BatchRecord, "request_counts">) {
  if (total === 0) return "–";
  return (
    <>
      {count(completed + failed)} of {count(total)}
      {failed > 0 && `, ${count(failed)} failed`}
    </>
  );
}
