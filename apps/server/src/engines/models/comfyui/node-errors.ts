import { type Workflow, workflowTarget, workflowTargets } from "@gantry/wire";
import { Fault, fault, type Issue } from "../../../kernel/errors.ts";
import { isJsonObject } from "../media/output-fields.ts";
import { UpstreamFailure } from "../upstream.ts";
import type { ComfyBackend } from "./prompt.ts";
import { parseJson } from "./python-json.ts";

/** One refused field of a node, as ComfyUI reports it. */
interface NodeError {
  node: string;
  type: unknown;
  field: string | undefined;
  /** Bounds from the node's declaration of the field: `[type, {min, max, …}]`. */
  bounds: Record<string, unknown>;
}

/** A refused workflow: a 422 that names our inputs if they are the reason, else a sentence for the model's owner. */
export function refusedPrompt(backend: ComfyBackend, status: number, body: string): Fault | undefined {
  if (status !== 400) return undefined;
  const answer = objectIn(body);
  if (!answer) return undefined;
  const cause = new UpstreamFailure({ status, body, mask: backend.mask });
  const found = faultOfNodes(backend, nodeErrorsIn(answer.node_errors), cause);
  if (found) return found;
  const missing = missingNode(backend.workflow, answer.error);
  if (missing === undefined) return undefined;
  const sentence = `The service behind the model does not have the node ${missing}. Install it there.`;
  return fault("downstream_service_error", sentence, { cause, ctx: { upstream_status: status } });
}

/**
 * A workflow is accepted if one of its outputs is valid; the others are not made. Undefined if the outputs of the model are
 * not concerned.
 */
export function ignoredOutputs(backend: ComfyBackend, answer: unknown): Fault | undefined {
  const errors = isJsonObject(answer) ? answer.node_errors : undefined;
  if (!isJsonObject(errors) || Object.keys(errors).length === 0) return undefined;
  const wanted = new Set<unknown>(Object.values(backend.outputs));
  const concerned = Object.entries(errors).filter(([, error]) => {
    const outputs = isJsonObject(error) && Array.isArray(error.dependent_outputs) ? error.dependent_outputs : [];
    return wanted.size === 0 || outputs.some((id) => wanted.has(id));
  });
  const cause = new UpstreamFailure({ status: 200, body: JSON.stringify(errors), mask: backend.mask });
  return faultOfNodes(backend, nodeErrorsIn(Object.fromEntries(concerned)), cause);
}

function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function nodeErrorsIn(nodes: unknown): NodeError[] {
  const found: NodeError[] = [];
  for (const [node, report] of Object.entries(isJsonObject(nodes) ? nodes : {})) {
    const errors: unknown[] = isJsonObject(report) && Array.isArray(report.errors) ? report.errors : [];
    for (const error of errors.filter(isJsonObject)) {
      const extra = isJsonObject(error.extra_info) ? error.extra_info : {};
      const bounds: unknown = Array.isArray(extra.input_config) ? extra.input_config[1] : undefined;
      found.push({
        node,
        type: error.type,
        field: typeof extra.input_name === "string" ? extra.input_name : undefined,
        bounds: isJsonObject(bounds) ? bounds : {},
      });
    }
  }
  return found;
}

function faultOfNodes(backend: ComfyBackend, errors: readonly NodeError[], cause: UpstreamFailure): Fault | undefined {
  const issues = new Map<string, Issue>();
  const inputs = inputsByField(backend);
  for (const error of errors) {
    const name = inputs.get(`${error.node}.${error.field}`);
    if (name !== undefined && !issues.has(name)) issues.set(name, issueOf(name, error));
  }
  const [first, ...rest] = issues.values();
  if (first) return new Fault([first, ...rest], { cause });
  const where = errors.map((error) => placeOf(backend.workflow, error)).find((place) => place !== undefined);
  if (where === undefined) return undefined;
  const sentence = `The service behind the model refused the workflow at ${where}. Change the workflow or that server.`;
  return fault("downstream_service_error", sentence, { cause });
}

/** Our inputs by `node.field`. Of an image and its mask, the image is named. */
function inputsByField({ inputs }: ComfyBackend): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, binding] of Object.entries(inputs)) {
    for (const target of workflowTargets(binding).map(workflowTarget)) {
      const field = target && `${target.node}.${target.field}`;
      if (field !== undefined && !(target?.isMask && found.has(field))) found.set(field, name);
    }
  }
  return found;
}

/** Uses our own text: the server's may quote its files. */
function issueOf(name: string, { type, bounds }: NodeError): Issue {
  const loc = ["body", name];
  if (type === "required_input_missing") return { type: "missing", loc, msg: "Field required" };
  if (type === "value_smaller_than_min" && typeof bounds.min === "number") {
    const msg = `The number must be at least ${bounds.min}.`;
    return { type: "greater_than_equal", loc, msg, ctx: { ge: bounds.min } };
  }
  if (type === "value_bigger_than_max" && typeof bounds.max === "number") {
    const msg = `The number must be at most ${bounds.max}.`;
    return { type: "less_than_equal", loc, msg, ctx: { le: bounds.max } };
  }
  return { type: "value_error", loc, msg: "The model does not accept this value." };
}

/** Names come from our own workflow, never from the answer. */
function placeOf(workflow: Workflow, { node, field }: Pick<NodeError, "node" | "field">): string | undefined {
  const found = Object.hasOwn(workflow, node) ? workflow[node] : undefined;
  if (!found) return undefined;
  const place = `node ${node} (${found.class_type})`;
  return field !== undefined && Object.hasOwn(found.inputs, field) ? `${place}, field ${field}` : place;
}

/** The class of a node that the server does not know. It names the node as `Node ID '#4'`. */
function missingNode(workflow: Workflow, error: unknown): string | undefined {
  if (!isJsonObject(error) || (error.type !== "invalid_prompt" && error.type !== "missing_node_type")) return undefined;
  const extra = isJsonObject(error.extra_info) ? error.extra_info : {};
  const named = typeof extra.node_id === "string" ? extra.node_id : undefined;
  const id = named ?? /'#([^']{1,200})'/.exec(typeof error.details === "string" ? error.details : "")?.[1];
  return id !== undefined && Object.hasOwn(workflow, id) ? workflow[id]?.class_type : undefined;
}

export function nodeNamed(workflow: Workflow, node: unknown): string | undefined {
  return typeof node === "string" ? placeOf(workflow, { node, field: undefined }) : undefined;
}
