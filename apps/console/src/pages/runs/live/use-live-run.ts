import type { RunTrace } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../../../api/client.ts";
import { pendingApprovalsKey } from "../../approvals/approvals-query.ts";
import { addText, type LiveText } from "./live-text.rules.ts";
import { throttled } from "./throttled.ts";

export interface LiveRun {
  text: LiveText | undefined;
  /** Why following stopped. */
  failure: unknown;
  retry(): void;
}

const shownEveryMs = 60;
/** Long traces are read less often: each read is the whole tree. */
const refreshMs = (steps: number): number => (document.hidden ? 10_000 : Math.min(5_000, 1_000 + steps * 4));

/** Follows a run: refreshes what is shown when something has happened, and collects the text that its model writes. */
export function useLiveRun(runId: string, isLive: boolean): LiveRun {
  const queries = useQueryClient();
  const [attempt, setAttempt] = useState(0);
  const [text, setText] = useState<LiveText>();
  const [failure, setFailure] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a retry follows again.
  useEffect(() => {
    setText(undefined);
    setFailure(undefined);
    if (!isLive) return;
    const controller = new AbortController();
    const { signal } = controller;
    const refresh = throttled(
      () => {
        for (const view of ["one", "trace", "confirmations"]) {
          void queries.invalidateQueries({ queryKey: ["runs", view, runId] });
        }
      },
      () => refreshMs(queries.getQueryData<RunTrace>(["runs", "trace", runId])?.steps.length ?? 0),
    );
    let written: LiveText | undefined;
    const show = throttled(
      () => setText(written),
      () => shownEveryMs,
    );

    async function follow(): Promise<void> {
      for await (const event of api.runs.events(runId, { text: true, signal })) {
        if (event.type === "text") {
          // A call that has just started is not in the trace yet.
          if (written?.predictionId !== event.data.call_id) refresh.run();
          written = addText(written, event.data);
          show.run();
          continue;
        }
        refresh.run();
        if (event.type === "confirmation_required" || event.type === "confirmation_resolved") {
          void queries.invalidateQueries({ queryKey: pendingApprovalsKey });
        }
      }
      await queries.invalidateQueries({ queryKey: ["runs"] });
    }

    follow().catch((error: unknown) => signal.aborted || setFailure(error));
    return () => {
      controller.abort();
      refresh.stop();
      show.stop();
    };
  }, [runId, isLive, attempt, queries]);
  return { text, failure, retry: () => setAttempt(attempt + 1) };
}
