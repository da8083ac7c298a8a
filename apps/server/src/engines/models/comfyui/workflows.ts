import { createHash } from "node:crypto";
import { isWorkflowLink, type Workflow, workflowFault } from "@gantry/wire";
import { isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { Net } from "../../net/net.ts";
import { isJsonObject } from "../media/output-fields.ts";
import { type ComfyConnection, getBounded, getJson } from "./server.ts";
import type { ObjectInfo } from "./workflow-fields.ts";
import { titleOf } from "./workflow-manifest.ts";

export { manifestOfWorkflow, type WorkflowManifest } from "./workflow-manifest.ts";

export interface RecentWorkflow {
  /** The same for every run of the workflow, whatever its values. */
  id: string;
  title: string;
  /** ISO 8601; undefined if the server does not say. */
  ranAt: string | undefined;
  workflow: Workflow;
}

const megabyte = 1024 * 1024;
/** Entries contain the workflow twice and its outputs, and may be large. */
const pages = [40, 5, 1];
const longestHistory = 32 * megabyte;
const mostClasses = 100;
const longestInfo = 4 * megabyte;
const deepest = 16;

/** The workflows that ran lately on a server without failing, newest first. */
export async function listWorkflows(
  net: Net,
  connection: Omit<ComfyConnection, "net">,
  signal: AbortSignal,
): Promise<RecentWorkflow[]> {
  const history = await recentHistory({ ...connection, net }, signal);
  const found = new Map<string, RecentWorkflow>();
  for (const entry of Object.values(history).toReversed()) {
    const recent = isJsonObject(entry) ? recentOf(entry) : undefined;
    if (recent && !found.has(recent.id)) found.set(recent.id, recent);
  }
  return [...found.values()];
}

async function recentHistory(connection: ComfyConnection, signal: AbortSignal): Promise<Record<string, unknown>> {
  for (const entries of pages) {
    const answer = await getBounded(connection, `history?max_items=${entries}`, signal, longestHistory);
    if (answer !== "too large") return isJsonObject(answer.json) ? answer.json : {};
  }
  return {};
}

/** `prompt` is `[number, id, workflow, extra data, outputs]`. */
function recentOf({ prompt, status }: Record<string, unknown>): RecentWorkflow | undefined {
  const [, , nodes, extra]: unknown[] = Array.isArray(prompt) ? prompt : [];
  if (isJsonObject(status) && status.status_str === "error") return undefined;
  if (!isJsonObject(nodes) || !isWithinDepth(nodes, deepest) || workflowFault(nodes)) return undefined;
  const workflow = nodesOnly(nodes as Workflow);
  return { id: idOf(workflow), title: titleOf(workflow), ranAt: timeOf(extra, status), workflow };
}

/** The server adds what it learns about a node during a run. */
function nodesOnly(workflow: Workflow): Workflow {
  const entries = Object.entries(workflow).map(([id, { class_type, inputs }]) => [id, { class_type, inputs }]);
  return Object.fromEntries(entries);
}

function idOf(workflow: Workflow): string {
  const hash = createHash("sha256");
  for (const [id, { class_type, inputs }] of Object.entries(workflow)) {
    const fields = Object.keys(inputs).toSorted();
    const links = fields.map((field) => (isWorkflowLink(inputs[field]) ? inputs[field] : field));
    hash.update(JSON.stringify([id, class_type, links]));
  }
  return hash.digest("hex").slice(0, 16);
}

function timeOf(extra: unknown, status: unknown): string | undefined {
  const messages = isJsonObject(status) && Array.isArray(status.messages) ? status.messages : [];
  const data: unknown = Array.isArray(messages[0]) ? messages[0][1] : undefined;
  const started = isJsonObject(data) ? data.timestamp : undefined;
  const time = started ?? (isJsonObject(extra) ? extra.create_time : undefined);
  const date = new Date(typeof time === "number" ? time : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** What the server says about the nodes of a workflow. Only these are read: the whole list has tens of megabytes. */
export async function objectInfoOf(
  net: Net,
  connection: Omit<ComfyConnection, "net">,
  workflow: Workflow,
  signal: AbortSignal,
): Promise<ObjectInfo> {
  const classes = new Set(Object.values(workflow).map((node) => node.class_type));
  const info: Record<string, unknown> = {};
  for (const name of [...classes].slice(0, mostClasses)) {
    const path = `object_info/${encodeURIComponent(name)}`;
    const answer = await getJson({ ...connection, net }, path, signal, longestInfo);
    if (isJsonObject(answer) && Object.hasOwn(answer, name)) info[name] = answer[name];
  }
  return info;
}
