import { useEffect, useState } from "react";
import { api } from "../../../api/client.ts";
import { asLogged, type LoggedEvent } from "./run-log.rules.ts";

export interface RunLog {
  events: readonly LoggedEvent[];
  /** Why it is not followed any more. */
  failure: unknown;
  isFollowing: boolean;
}

const nothing: RunLog = { events: [], failure: undefined, isFollowing: true };
const isLast = ({ type }: LoggedEvent) => type === "completed" || type === "error";

/** All that a run did, with the times of the service, and then what it does, as it comes. */
export function useRunLog(runId: string): RunLog {
  const [log, setLog] = useState(nothing);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const add = (events: readonly LoggedEvent[]) =>
      setLog((before) => ({ ...before, events: [...before.events, ...events] }));

    async function follow(): Promise<void> {
      let known = 0;
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await api.runs.listEvents(runId, { after, signal });
        // They are numbered from 1 without a gap, which is how the stream goes on behind them.
        const past = page.events.map((entry) => asLogged(entry, ++known));
        add(past);
        if (past.some(isLast)) return;
        after = page.next_after;
      }
      for await (const event of api.runs.events(runId, { after: known, signal })) {
        add([{ ...event, at: new Date().toISOString() }]);
      }
    }

    setLog(nothing);
    follow().then(
      () => setLog((before) => ({ ...before, isFollowing: false })),
      (failure) => signal.aborted || setLog((before) => ({ ...before, failure, isFollowing: false })),
    );
    return () => leaving.abort();
  }, [runId]);
  return log;
}
