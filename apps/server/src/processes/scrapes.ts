import { processText } from "../engines/telemetry/process-text.ts";
import { EndedCounts, type Exposition, sumExpositions } from "../engines/telemetry/sum-expositions.ts";
import type { Child } from "./child.ts";

export interface Scrapes {
  /** The metrics of all processes. Scrapes at the same time share one reading. */
  read(): Promise<string>;
  reported(child: Child, id: number, text: string): void;
  /** Keeps what the process had counted at the last scrape. */
  ended(child: Child): void;
}

/** A process that hangs is left out, except for what it has counted before. */
const reportWithinMs = 3_500;

export function createScrapes(serving: () => readonly Child[], wanted: number): Scrapes {
  const endedCounts = new EndedCounts();
  const last = new Map<Child, string>();
  let reading: Promise<string> | undefined;
  let lastId = 0;
  let awaited = new Map<Child, () => void>();

  async function readAll(): Promise<string> {
    const id = ++lastId;
    const answered = new Set<Child>();
    const asked = serving();
    const reports = asked.map(
      (child) =>
        new Promise<void>((resolve) => {
          awaited.set(child, () => {
            answered.add(child);
            resolve();
          });
          child.send({ kind: "report", id }, undefined, resolve);
          void child.ended.then(() => resolve());
        }),
    );
    const late = AbortSignal.timeout(reportWithinMs);
    await Promise.race([Promise.all(reports), new Promise((resolve) => late.addEventListener("abort", resolve))]);
    awaited = new Map();
    const parts = [...last].map(
      ([child, text]): Exposition => ({ process: String(child.number), text, isOld: !answered.has(child) }),
    );
    const own = { process: "supervisor", text: await processText() };
    return sumExpositions([...parts, own], endedCounts, wanted);
  }

  return {
    read() {
      reading ??= readAll().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    reported(child, id, text) {
      if (child.state === "ended") return;
      last.set(child, text);
      if (id === lastId) awaited.get(child)?.();
    },
    ended(child) {
      endedCounts.add(last.get(child) ?? "");
      last.delete(child);
    },
  };
}
