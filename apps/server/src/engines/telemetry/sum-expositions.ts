import { gaugeMerges, type Merge } from "./gauges.ts";

/** The metrics of one process in text format. */
export interface Exposition {
  /** The label `process` of metrics that describe the process itself. */
  process: string;
  text: string;
  /** The process did not answer, and this is what it reported before: only what it has counted still holds. */
  isOld?: boolean;
}

interface Family {
  name: string;
  /** The HELP and TYPE lines. */
  head: string[];
  type: string;
  /** By name and labels. */
  samples: Map<string, string>;
}

/** What processes that have ended had counted. Without it a sum would fall, and Prometheus would take that for a restart. */
export class EndedCounts {
  readonly families = new Map<string, Family>();

  add(text: string): void {
    for (const family of parse(text)) if (isCounted(family)) mergeInto(this.families, family, "sum");
  }
}

const merges = gaugeMerges();

/**
 * One exposition of all processes of a server. Counters and histograms are summed. Gauges are summed if each process has
 * its own share, and otherwise taken once. Metrics of the process itself (`process_`, `nodejs_`) get the label `process`.
 */
export function sumExpositions(parts: readonly Exposition[], ended: EndedCounts, wanted: number): string {
  const sums = new Map<string, Family>();
  for (const family of ended.families.values()) mergeInto(sums, family, "sum");
  for (const { process, text, isOld = false } of parts) {
    for (const family of parse(text)) {
      if (isOfProcess(family)) {
        if (!isOld) mergeInto(sums, labelled(family, process), "max");
      } else if (isCounted(family)) mergeInto(sums, family, "sum");
      else if (!isOld) mergeInto(sums, family, merges.get(family.name) ?? "max");
    }
  }
  const processes = sums.get("gantry_processes")?.samples;
  const serving = Number(processes?.get('gantry_processes{state="serving"}') ?? 0);
  processes?.set('gantry_processes{state="missing"}', String(Math.max(0, wanted - serving)));
  return [...sums.values()].map(textOf).join("");
}

const isCounted = (family: Family) =>
  !isOfProcess(family) && (family.type === "counter" || family.type === "histogram");
const isOfProcess = ({ name }: Family) => !/^(?:gantry|gen_ai)_/.test(name);

function parse(text: string): Family[] {
  const families: Family[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    let family = families.at(-1);
    if (kind !== undefined && family?.name !== name) {
      family = { name, head: [], type: "", samples: new Map() };
      families.push(family);
    }
    if (!family) continue;
    if (kind !== undefined) family.head.push(line);
    if (kind === "TYPE") family.type = rest;
    // Values follow the last space: quoted labels may contain spaces too.
    const at = line.lastIndexOf(" ");
    if (!line.startsWith("#") && at > 0) family.samples.set(line.slice(0, at), line.slice(at + 1));
  }
  return families;
}

function mergeInto(sums: Map<string, Family>, family: Family, merge: Merge): void {
  const known = sums.get(family.name);
  if (!known) return void sums.set(family.name, { ...family, samples: new Map(family.samples) });
  for (const [key, value] of family.samples) {
    const before = known.samples.get(key);
    known.samples.set(key, before === undefined ? value : String(mergeOf[merge](Number(before), Number(value))));
  }
}

const mergeOf: Record<Merge, (a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  max: (a, b) => Math.max(a, b),
  min: (a, b) => Math.min(a, b),
};

function labelled(family: Family, process: string): Family {
  const samples = [...family.samples].map(([key, value]): [string, string] => {
    const [, name = "", labels] = /^([^{]+)(?:\{(.*)\})?$/s.exec(key) ?? [];
    return [`${name}{${labels ? `${labels},` : ""}process="${process}"}`, value];
  });
  return { ...family, samples: new Map(samples) };
}

function textOf({ head, samples }: Family): string {
  return `${[...head, ...[...samples].map(([key, value]) => `${key} ${value}`)].join("\n")}\n`;
}
