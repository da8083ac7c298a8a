import { type FileLink, GantryError, textSoFar } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../../api/client.ts";
import { type Attempts, createAttempts, isUnanswered } from "../../../ui/attempts.rules.ts";
import { errorText } from "../../../ui/error-text.rules.ts";
import { toast } from "../../../ui/toast.ts";
import type { FormValues, SentInput } from "./form-values.rules.ts";

export interface Run {
  key: number;
  values: FormValues;
  startedAt: number;
  endedAt?: number;
  /** Set once the prediction is accepted. */
  predictionId?: string;
  state: "open" | "done" | "cancelled" | "failed";
  /** Streamed text so far. */
  text: string;
  output: Readonly<Record<string, unknown>>;
  files: Readonly<Record<string, FileLink>>;
  error?: unknown;
  /** Sent with an Idempotency-Key but not confirmed: sending it again does not start a second run. */
  mayBeAccepted?: boolean;
}

const doubleClickMs = 500;

type Change = Partial<Run> | ((run: Run) => Partial<Run>);

/** Runs since the page was opened, newest first. Leaving the page cancels streams; queued runs continue. */
export function useRuns(model: string, isStreamed: boolean) {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const queries = useQueryClient();
  const open = useRef(new Map<number, AbortController>());
  const lastKey = useRef(0);
  const [attempts] = useState(() => createAttempts());
  const isSending = useRef(false);
  useEffect(() => {
    const controllers = open.current;
    return () => {
      for (const controller of controllers.values()) controller.abort();
    };
  }, []);

  const changing = (key: number) => (change: Change) =>
    setRuns((before) =>
      before.map((run) =>
        run.key === key ? { ...run, ...(typeof change === "function" ? change(run) : change) } : run,
      ),
    );

  /**
   * Resolves when the run ends. Ignores a double click, and a second start before the first is accepted, because each
   * run costs money. If `showError` handles a refusal, the run is removed from the list.
   */
  async function start(values: FormValues, input: SentInput, showError: (error: unknown) => boolean): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    const release = once((afterMs: number) => {
      setTimeout(() => {
        isSending.current = false;
      }, afterMs);
    });
    const accepted = () => release(doubleClickMs);
    const key = ++lastKey.current;
    const controller = new AbortController();
    open.current.set(key, controller);
    setRuns((before) => [
      { key, values, startedAt: Date.now(), state: "open", text: "", output: {}, files: {} },
      ...before,
    ]);
    const change = changing(key);
    try {
      await (isStreamed ? stream : queue)(model, input, { change, signal: controller.signal, attempts, accepted });
      change({ state: "done", endedAt: Date.now() });
    } catch (error) {
      // A refused request cost nothing and may be corrected and sent again immediately.
      release(isUnanswered(error) ? doubleClickMs : 0);
      const isCancelled = controller.signal.aborted || (error instanceof GantryError && error.status === 499);
      if (!isCancelled && showError(error)) setRuns((before) => before.filter((run) => run.key !== key));
      else change({ state: isCancelled ? "cancelled" : "failed", endedAt: Date.now(), ...(!isCancelled && { error }) });
    } finally {
      open.current.delete(key);
      for (const changed of ["usage", "me", "files", "expenses"]) {
        void queries.invalidateQueries({ queryKey: [changed] });
      }
    }
  }

  async function cancel({ key, predictionId }: Run): Promise<void> {
    if (predictionId === undefined) return open.current.get(key)?.abort();
    try {
      // `start` notices the end of the run.
      await api.cancel(model, predictionId);
    } catch (error) {
      toast(errorText(error), "bad");
    }
  }

  return { runs, start, cancel };
}

interface Running {
  change(change: Change): void;
  signal: AbortSignal;
  attempts: Attempts;
  accepted(): void;
}

function once(act: (afterMs: number) => void): (afterMs: number) => void {
  let isDone = false;
  return (afterMs) => {
    if (!isDone) act(afterMs);
    isDone = true;
  };
}

async function stream(model: string, input: SentInput, { change, signal, accepted }: Running): Promise<void> {
  for await (const event of api.stream(model, input, { signal })) {
    accepted();
    const { prediction_id: predictionId, output_data, files } = event;
    change((run) => ({
      text: textSoFar(run.text, event),
      ...(predictionId !== undefined && { predictionId }),
      // Outputs that are not streamed arrive at once, with their files.
      ...(files && { files, output: output_data ?? {} }),
    }));
  }
}

async function queue(model: string, input: SentInput, { change, signal, attempts, accepted }: Running): Promise<void> {
  const submit = (idempotencyKey: string) => api.submit(model, input, { signal, idempotencyKey });
  const predictionId = await attempts.send(input, submit).catch((error) => {
    change({ mayBeAccepted: true });
    throw error;
  });
  accepted();
  change({ predictionId });
  const { output_data: output, files } = await api.waitFor(model, predictionId, { signal });
  change({ output, files });
}
