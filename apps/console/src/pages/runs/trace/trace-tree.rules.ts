import type { TraceStep } from "@gantry/sdk";

export interface TreeNode {
  step: TraceStep;
  children: TreeNode[];
}

/** A line of the tree. The run itself is the first, without a step. */
export interface TreeRow {
  id: string;
  step: TraceStep | undefined;
  /** 1 for the run. */
  level: number;
  hasChildren: boolean;
  isOpen: boolean;
  /** Among its siblings, from 1. */
  position: number;
  siblings: number;
  parentId: string | undefined;
}

/** The id of the row of the run. */
export const rootId = "run";

/** Sub-agents rarely wait for a worker; a line for each would only be noise. */
const shortestQueueMs = 100;
const isWorthShowing = ({ kind, parent_id, status, duration_ms }: TraceStep): boolean =>
  kind !== "queue" || parent_id === null || status !== "done" || (duration_ms ?? 0) >= shortestQueueMs;

/** Steps whose parent is missing, as in a truncated trace, belong to the run. */
export function traceTree(steps: readonly TraceStep[]): TreeNode[] {
  const nodes = new Map(steps.filter(isWorthShowing).map((step) => [step.id, { step, children: [] as TreeNode[] }]));
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const { parent_id } = node.step;
    const parent = parent_id === null || parent_id === node.step.id ? undefined : nodes.get(parent_id);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}

export function treeRows(roots: readonly TreeNode[], closed: ReadonlySet<string>): TreeRow[] {
  const isOpen = !closed.has(rootId);
  const rows: TreeRow[] = [
    {
      ...{ id: rootId, step: undefined, level: 1, hasChildren: roots.length > 0, isOpen },
      ...{ position: 1, siblings: 1, parentId: undefined },
    },
  ];
  const add = (nodes: readonly TreeNode[], level: number, parentId: string) => {
    for (const [n, { step, children }] of nodes.entries()) {
      const hasChildren = children.length > 0;
      const row = { id: step.id, step, level, hasChildren, isOpen: hasChildren && !closed.has(step.id), parentId };
      rows.push({ ...row, position: n + 1, siblings: nodes.length });
      if (row.isOpen) add(children, level + 1, step.id);
    }
  };
  if (isOpen) add(roots, 2, rootId);
  return rows;
}

/** Sub-agents of a long trace start closed. */
export function closedAtFirst(steps: readonly TraceStep[]): ReadonlySet<string> {
  const isLong = steps.length > 300;
  return new Set(isLong ? steps.filter(({ kind }) => kind === "agent").map(({ id }) => id) : []);
}

/** Closed rows hide a step that is opened by its address: these must be open. */
export function ancestorsOf(steps: readonly TraceStep[], id: string): string[] {
  const parents = new Map(steps.map((step) => [step.id, step.parent_id]));
  const found: string[] = [];
  for (let at = parents.get(id); at && !found.includes(at); at = parents.get(at)) found.push(at);
  return found;
}

export type TreeMove = { kind: "focus" | "open" | "close"; id: string } | undefined;

/** What a key does in a tree, as screen readers expect it. */
export function moveByKey(rows: readonly TreeRow[], current: string, key: string): TreeMove {
  const at = rows.findIndex(({ id }) => id === current);
  const row = rows[at];
  if (!row) return undefined;
  const focus = (to: TreeRow | undefined): TreeMove => to && { kind: "focus", id: to.id };
  switch (key) {
    case "ArrowDown":
      return focus(rows[at + 1]);
    case "ArrowUp":
      return focus(rows[at - 1]);
    case "Home":
      return focus(rows[0]);
    case "End":
      return focus(rows.at(-1));
    case "ArrowRight":
      if (!row.hasChildren) return undefined;
      return row.isOpen ? focus(rows[at + 1]) : { kind: "open", id: row.id };
    case "ArrowLeft":
      if (row.hasChildren && row.isOpen) return { kind: "close", id: row.id };
      return focus(rows.find(({ id }) => id === row.parentId));
    default:
      return undefined;
  }
}
