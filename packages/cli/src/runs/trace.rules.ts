import type { RunTrace, TraceStep } from "@gantry/sdk";
import { count, money, seconds } from "../frame/format.rules.ts";
import { shortened } from "./run-text.rules.ts";

export interface TraceRow {
  /** With the lines of the tree before it. */
  name: string;
  status: string;
  time: string;
  cost: string;
  tokens: string;
  summary: string;
  id: string;
}

interface Node {
  step: TraceStep;
  children: Node[];
}

/** The steps as a tree: sub-agents contain the steps of their runs. */
export function traceRows({ steps }: Pick<RunTrace, "steps">): TraceRow[] {
  const rows: TraceRow[] = [];
  const add = (nodes: readonly Node[], above: string) => {
    for (const [n, { step, children }] of nodes.entries()) {
      const isLast = n === nodes.length - 1;
      rows.push(rowOf(step, `${above}${isLast ? "└─ " : "├─ "}`));
      add(children, `${above}${isLast ? "   " : "│  "}`);
    }
  };
  add(treeOf(steps), "");
  return rows;
}

/** Steps whose parent is missing, as in a truncated trace, belong to the run. */
function treeOf(steps: readonly TraceStep[]): Node[] {
  const nodes = new Map(steps.map((step) => [step.id, { step, children: [] as Node[] }]));
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const { id, parent_id } = node.step;
    const parent = parent_id === null || parent_id === id ? undefined : nodes.get(parent_id);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

const longestSummary = 100;

function rowOf(step: TraceStep, lead: string): TraceRow {
  const { kind, name, purpose, status, duration_ms, cost, usage, summary, id } = step;
  const kindAndName = kind === "queue" || kind === "wait" ? [kind, name === kind ? "" : name] : [kind, name];
  const isUsual = purpose === undefined || purpose === "working";
  return {
    name: lead + [...kindAndName, isUsual ? "" : `(${purpose})`].filter((word) => word !== "").join(" "),
    status,
    time: duration_ms === null ? "" : seconds(duration_ms / 1000),
    cost: cost === undefined || cost === 0 ? "" : money(cost),
    tokens: usage ? `${count(usage.input_tokens)}/${count(usage.output_tokens)}` : "",
    summary: shortened(summary ?? "", longestSummary),
    id,
  };
}
