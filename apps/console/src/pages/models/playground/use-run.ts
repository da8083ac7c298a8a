import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../../api/client.ts";
import { createAttempts, isUnanswered } from "../../../ui/attempts.rules.ts";
import { errorText } from "../../../ui/error-text.rules.ts";
import { toast } from "../../../ui/toast.ts";
import { followRun } from "./follow-run.ts";
import type { SentInput } from "./form-values.rules.ts";
import { newRun, type Run } from "./run.ts";

const doubleClickMs = 500;
/** What a run changes. */
const changedQueries = ["predictions", "usage", "me", "files", "expenses", "series"];

interface RunOptions {
  model: string;
  isStreamed: boolean;
  /** The prediction in the address, which a reload must show again. */
  shownId: string | undefined;
  onAccepted(predictionId: string): void;
}

/** The run that the playground shows. Runs are queued, so that they continue when the page is left. */
export function useRun({ model, isStreamed, shownId, onAccepted }: RunOptions) {
  const [run, setRun] = useState<Run>();
  const queries = useQueryClient();
  const following = useRef<AbortController>(undefined);
  const shown = useRef<string>(undefined);
  const isSending = useRef(false);
  /** Asked for before the prediction had an id. */
  const isCancelWanted = useRef(false);
  const [attempts] = useState(() => createAttempts());

  function show(first: Run): { signal: AbortSignal; change(change: (run: Run) => Partial<Run>): void } {
    following.current?.abort();
    const controller = new AbortController();
    following.current = controller;
    shown.current = first.predictionId;
    setRun(first);
    const { signal } = controller;
    return {
      signal,
      change: (change) => setRun((before) => (before && !signal.aborted ? { ...before, ...change(before) } : before)),
    };
  }

  async function follow(predictionId: string, showing: ReturnType<typeof show>): Promise<void> {
    shown.current = predictionId;
    showing.change(() => ({ predictionId }));
    await followRun(predictionId, { model, isStreamed, ...showing });
    for (const changed of changedQueries) void queries.invalidateQueries({ queryKey: [changed] });
  }

  const open = (predictionId: string) => follow(predictionId, show({ ...newRun(Date.now()), predictionId }));
  const latestOpen = useRef(open);
  latestOpen.current = open;
  useEffect(() => {
    if (shownId === shown.current) return;
    if (shownId !== undefined) void latestOpen.current(shownId);
    else {
      following.current?.abort();
      shown.current = undefined;
      setRun(undefined);
    }
  }, [shownId]);
  useEffect(
    () => () => {
      following.current?.abort();
      shown.current = undefined;
    },
    [],
  );

  /**
   * Ignores a double click, and a second start before the first is accepted, because each run costs money. If
   * `showError` handles a refusal, no run is shown.
   */
  async function start(input: SentInput, showError: (error: unknown) => boolean): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    isCancelWanted.current = false;
    const release = (afterMs: number) =>
      setTimeout(() => {
        isSending.current = false;
      }, afterMs);
    const startedAt = Date.now();
    const showing = show({ ...newRun(startedAt), watched: { startedAt } });
    const { signal, change } = showing;
    let predictionId: string;
    try {
      predictionId = await attempts.send(input, (idempotencyKey) => api.submit(model, input, { idempotencyKey }));
    } catch (error) {
      // A refused request cost nothing and may be corrected and sent again immediately.
      release(isUnanswered(error) ? doubleClickMs : 0);
      if (signal.aborted) return;
      if (showError(error)) setRun(undefined);
      else change(() => ({ state: "failed", endedAt: Date.now(), error, mayBeAccepted: true }));
      return;
    }
    release(doubleClickMs);
    if (!signal.aborted) onAccepted(predictionId);
    if (isCancelWanted.current) await cancelAccepted(predictionId);
    void queries.invalidateQueries({ queryKey: ["predictions"] });
    await follow(predictionId, showing);
  }

  async function cancel(): Promise<void> {
    if (run?.predictionId !== undefined) return cancelAccepted(run.predictionId);
    // The server may have accepted the prediction already, and only an id can cancel it.
    isCancelWanted.current = true;
    setRun((before) => before && { ...before, isCancelling: true });
  }

  async function cancelAccepted(predictionId: string): Promise<void> {
    try {
      // `follow` notices the end.
      await api.cancel(model, predictionId);
    } catch (error) {
      toast(errorText(error), "bad");
    }
  }

  return { run, start, cancel, retry: () => void (run?.predictionId !== undefined && open(run.predictionId)) };
}

export type ShownRun = ReturnType<typeof useRun>;
