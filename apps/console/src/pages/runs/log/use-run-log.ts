import { useEffect, useState } from "react";
import { api } from "../../../api/client.ts";
import { asLogged, type LoggedEvent } from "./run-log.rules.ts";

export interface RunLog {
  events: readonly LoggedEvent[];
  /** Why following stopped. */
  failure: unknown;
  isFollowing: boolean;
}

const emptyLog: RunLog = { events: [], failure: undefined, isFollowing: true };
const isLast = ({ type }: LoggedEvent) => type === "completed" || type === "error";

/** Reads past events, then follows the stream. */
export function useRunLog(runId: string): RunLog {
  const [log, setLog] = useState(emptyLog);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const add = (events: readonly LoggedEvent[]) =>
      setLog((before) => ({ ...before, events: [...before.events, ...events] }));

    async function follow(): Promise<void> {
      let known = 0;
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await api.runs.listEvents(runId, { after, signal });
        // Events are numbered from 1 without gaps, so the count is the cursor of the stream.
        const past = page.events.map((entry) => asLogged(entry, ++known));
        add(past);
        if (past.some(isLast)) return;
        after = page.next_after;
      }
      for await (const event of api.runs.events(runId, { after: known, signal })) {
        add([{ ...event, at: new Date().toISOString() }]);
      }
    }

    setLog(emptyLog);
    follow().then(
      () => setLog((before) => ({ ...before, isFollowing: false })),
      (failure) => signal.aborted || setLog((before) => ({ ...before, failure, isFollowing: false })),
    );
    return () => controller.abort();
  }, [runId]);
  return log;
}
