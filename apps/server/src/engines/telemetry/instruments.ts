/**
 * Counters and histograms that cost a few nanoseconds per update: a number in an object, an index in an array. prom-client
 * hashes labels at every call, which is ten times slower.
 */
export interface Cell {
  value: number;
}

/** More label values than any metric has. Further ones, caused by a bug, are counted as `other`. */
const mostCells = 1000;

class Family<T> {
  readonly #cells = new Map<string, T>();
  readonly #labelNames: readonly string[];
  readonly #make: () => T;

  constructor(labelNames: readonly string[], make: () => T) {
    this.#labelNames = labelNames;
    this.#make = make;
  }

  /** Label values in order, joined by a line feed, so that a call needs one map lookup and no array. */
  at(values: string): T {
    return this.#cells.get(values) ?? this.#add(values);
  }

  #add(values: string): T {
    const isFull = this.#cells.size >= mostCells;
    const key = isFull ? this.#labelNames.map(() => "other").join("\n") : values;
    const cell = this.#cells.get(key) ?? this.#make();
    this.#cells.set(key, cell);
    return cell;
  }

  *labelled(): Generator<[[name: string, value: string][], T]> {
    for (const [values, cell] of this.#cells) {
      const given = this.#labelNames.length === 0 ? [] : values.split("\n");
      yield [given.map((value, i) => [this.#labelNames[i] as string, value]), cell];
    }
  }

  *entries(): Generator<[string, T]> {
    for (const [labels, cell] of this.labelled()) {
      yield [labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(","), cell];
    }
  }
}

/** For the documentation. */
export interface Described {
  name: string;
  type: "counter" | "gauge" | "histogram";
  labelNames: readonly string[];
  help: string;
}

export interface Counter extends Described {
  at(values: string): Cell;
  text(): string;
}

export function createCounter(name: string, help: string, labelNames: readonly string[] = []): Counter {
  const family = new Family<Cell>(labelNames, () => ({ value: 0 }));
  // A counter without labels starts at 0, so that its first step has a rate.
  if (labelNames.length === 0) family.at("");
  return {
    ...{ name, type: "counter", labelNames, help },
    at: (values) => family.at(values),
    text: () =>
      headed(
        name,
        help,
        "counter",
        [...family.entries()].map(([labels, cell]) => line(name, labels, cell.value)),
      ),
  };
}

export interface HistogramCell {
  observe(value: number): void;
}

class Buckets implements HistogramCell {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let i = 0;
    while (i < this.bounds.length && value > (this.bounds[i] as number)) i++;
    this.counts[i] = (this.counts[i] as number) + 1;
    this.sum += value;
  }
}

/** The state of one histogram, since the start of the process. */
export interface HistogramState {
  labels: readonly (readonly [name: string, value: string])[];
  bounds: readonly number[];
  /** One more than bounds. */
  counts: readonly number[];
  sum: number;
}

export interface Histogram extends Described {
  at(values: string): HistogramCell;
  text(): string;
  states(): HistogramState[];
}

export function createHistogram(
  name: string,
  help: string,
  bounds: readonly number[],
  labelNames: readonly string[] = [],
): Histogram {
  const family = new Family<Buckets>(labelNames, () => new Buckets(bounds));
  return {
    ...{ name, type: "histogram", labelNames, help },
    at: (values) => family.at(values),
    text: () =>
      headed(
        name,
        help,
        "histogram",
        [...family.entries()].flatMap(([labels, cell]) => bucketLines(name, labels, cell)),
      ),
    states: () =>
      [...family.labelled()].map(([labels, cell]) => ({ labels, bounds, counts: [...cell.counts], sum: cell.sum })),
  };
}

function bucketLines(name: string, labels: string, { bounds, counts, sum }: Buckets): string[] {
  const lines: string[] = [];
  let total = 0;
  const before = labels === "" ? "" : `${labels},`;
  for (const [i, count] of counts.entries()) {
    total += count;
    lines.push(line(`${name}_bucket`, `${before}le="${bounds[i] ?? "+Inf"}"`, total));
  }
  return [...lines, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
}

export function gaugeText(
  name: string,
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string {
  return headed(
    name,
    help,
    "gauge",
    values.map(([labels, value]) => line(name, labels, value)),
  );
}

function headed(name: string, help: string, type: string, lines: readonly string[]): string {
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n")}\n`;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}`;
}

export function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
