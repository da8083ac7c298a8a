import { type FileLink, GantryError, textSoFar } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../../api/client.ts";
import { type Attempts, createAttempts, isUnanswered } from "../../../ui/attempts.rules.ts";
import { wordsOf } from "../../../ui/failure-words.rules.ts";
import { toast } from "../../../ui/toast.ts";
import type { FormValues, SentInput } from "./form-values.rules.ts";

/** One run of the model in this visit. */
export interface Run {
  key: number;
  /** What the form held. */
  values: FormValues;
  startedAt: number;
  endedAt?: number;
  /** Since it was accepted. */
  predictionId?: string;
  state: "open" | "done" | "cancelled" | "failed";
  /** What a stream has told. */
  text: string;
  output: Readonly<Record<string, unknown>>;
  files: Readonly<Record<string, FileLink>>;
  error?: unknown;
  /** It was sent under a key and not accepted, as far as is known: the same sent again would be the same run. */
  mayBeAccepted?: boolean;
}

/** As long as somebody may take for a double click. */
const doubleClickMs = 500;

type Change = Partial<Run> | ((run: Run) => Partial<Run>);

/** The runs of this visit, newest first. Leaving the page cancels those that stream; queued ones go on. */
export function useRuns(model: string, isStreamed: boolean) {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const queries = useQueryClient();
  const open = useRef(new Map<number, AbortController>());
  const lastKey = useRef(0);
  const [attempts] = useState(() => createAttempts());
  const isBeingSent = useRef(false);
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
   * Ends when the run does. A second one in the same moment, or before the first was accepted, is a slip that would
   * cost something, and does nothing. `isOurs` says of a refusal that it is shown elsewhere, and then the run was
   * none.
   */
  async function start(values: FormValues, input: SentInput, isOurs: (error: unknown) => boolean): Promise<void> {
    if (isBeingSent.current) return;
    isBeingSent.current = true;
    const release = once((afterMs: number) => {
      setTimeout(() => {
        isBeingSent.current = false;
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
      // What was refused cost nothing, and may be mended and sent at once.
      release(isUnanswered(error) ? doubleClickMs : 0);
      const isCancelled = controller.signal.aborted || (error instanceof GantryError && error.status === 499);
      if (!isCancelled && isOurs(error)) setRuns((before) => before.filter((run) => run.key !== key));
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
      // The run tells of its end itself.
      await api.cancel(model, predictionId);
    } catch (error) {
      toast(wordsOf(error), "bad");
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
      // What is not streamed comes whole, with its files.
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
