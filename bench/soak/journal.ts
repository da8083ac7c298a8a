/** What the soak has seen: disturbances, times of operations, and everything that must not have happened. */
export interface Disturbance {
  kind: string;
  from: number;
  /** Infinity until the installation has recovered. */
  to: number;
  aftermath: Aftermath;
}

export interface Timing {
  operation: string;
  at: number;
  ms: number;
}

/** How long a disturbance has effects after its end. */
export interface Aftermath {
  /** Calls may fail. */
  failMs: number;
  /** Calls may be slow. */
  slowMs: number;
}

export interface Journal {
  readonly startedAt: number;
  readonly disturbances: readonly Disturbance[];
  readonly timings: readonly Timing[];
  /** By kind: how often, and the first examples. */
  readonly faults: ReadonlyMap<string, { count: number; examples: string[] }>;
  /** Answers by operation and outcome. */
  readonly counts: ReadonlyMap<string, Map<string, number>>;
  disturb<T>(kind: string, aftermath: Aftermath, work: () => Promise<T>): Promise<T>;
  /** The machine stood still, without an injected fault. */
  stalled(from: number, to: number): void;
  /** Whether a call of this time may have failed because of a disturbance. */
  isDisturbed(from: number, to?: number): boolean;
  time(operation: string, from: number, ms?: number): void;
  fault(kind: string, example: string): void;
  count(operation: string, outcome: string): void;
}

const examplesOfKind = 5;
const afterStall: Aftermath = { failMs: 15_000, slowMs: 15_000 };

/** `onNew` receives the first example of each kind of fault when it is found. */
export function openJournal(onNew: (kind: string, example: string) => void): Journal {
  const disturbances: Disturbance[] = [];
  const timings: Timing[] = [];
  const faults = new Map<string, { count: number; examples: string[] }>();
  const counts = new Map<string, Map<string, number>>();
  const overlaps = (from: number, to: number, effect: keyof Aftermath) =>
    disturbances.some((one) => one.from <= to && one.to + one.aftermath[effect] >= from);

  return {
    startedAt: Date.now(),
    disturbances,
    timings,
    faults,
    counts,
    async disturb(kind, aftermath, work) {
      const one: Disturbance = { kind, from: Date.now(), to: Number.POSITIVE_INFINITY, aftermath };
      disturbances.push(one);
      try {
        return await work();
      } finally {
        one.to = Date.now();
      }
    },
    stalled: (from, to) => disturbances.push({ kind: "the machine stalls", from, to, aftermath: afterStall }),
    isDisturbed: (from, to = Date.now()) => overlaps(from, to, "failMs"),
    time(operation, from, ms = Date.now() - from) {
      if (!overlaps(from, from + ms, "slowMs")) timings.push({ operation, at: from, ms });
    },
    fault(kind, example) {
      const known = faults.get(kind) ?? { count: 0, examples: [] };
      faults.set(kind, known);
      known.count++;
      const seconds = ((Date.now() - this.startedAt) / 1000).toFixed(0);
      if (known.examples.length < examplesOfKind) known.examples.push(`${seconds} s: ${example.slice(0, 600)}`);
      if (known.count === 1) onNew(kind, example);
    },
    count(operation, outcome) {
      const ofOperation = counts.get(operation) ?? new Map<string, number>();
      counts.set(operation, ofOperation);
      ofOperation.set(outcome, (ofOperation.get(outcome) ?? 0) + 1);
    },
  };
}
