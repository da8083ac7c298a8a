import type { z } from "zod";
import { tell } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import type { Workflow } from "./manifest.ts";

/** A field of a workflow. With `isMask`, the file becomes the alpha channel of the image in that field. */
export interface WorkflowTarget {
  node: string;
  field: string;
  isMask: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly PropertyKey[];

const mostNodes = 2000;
const longestName = 200;
/** Names shown in a message. */
const mostShown = 12;
const maskMark = "#mask";
/** Assigning it would change the object itself. */
const reserved = "__proto__";

/** Reads `node.field` or `node.field#mask`. Names of fields may contain dots, ids of nodes never do. */
export function workflowTarget(text: string): WorkflowTarget | undefined {
  const dot = text.indexOf(".");
  const isMask = text.endsWith(maskMark);
  const field = text.slice(dot + 1, isMask ? -maskMark.length : undefined);
  return dot > 0 && field !== "" ? { node: text.slice(0, dot), field, isMask } : undefined;
}

/** A binding is one target or a list of them. */
export function workflowTargets(binding: unknown): readonly string[] {
  return (Array.isArray(binding) ? binding : [binding]).filter((target) => typeof target === "string");
}

export function isWorkflowLink(value: unknown): value is [string, number] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && typeof value[1] === "number";
}

/** The problem of a workflow, and where it is; undefined if it is in the API format. */
export function workflowFault(workflow: Fields): { path: Path; message: string } | undefined {
  if (Array.isArray(workflow.nodes)) {
    const message =
      "This is the format of ComfyUI's editor. In ComfyUI choose Workflow > Export (API) and use that file " +
      "(in older versions: enable the dev mode options, then Save (API Format)).";
    return { path: [], message };
  }
  const nodes = Object.entries(workflow);
  const isNode = (node: unknown) => isRecord(node) && typeof node.class_type === "string" && isRecord(node.inputs);
  if (nodes.length === 0 || !nodes.some(([, node]) => isNode(node))) {
    return {
      path: [],
      message: "Must be a ComfyUI workflow in the API format: nodes by id, each with class_type and inputs",
    };
  }
  if (nodes.length > mostNodes) return { path: [], message: `A workflow has at most ${mostNodes} nodes` };
  for (const [id, node] of nodes) {
    if (id === "" || id.length > longestName || id.includes(".") || id === reserved) {
      return { path: [id], message: `The id of a node has 1 to ${longestName} characters and no dot` };
    }
    if (!isRecord(node) || typeof node.class_type !== "string" || !isRecord(node.inputs)) {
      return { path: [id], message: "A node has class_type (a text) and inputs (an object)" };
    }
    if (Object.hasOwn(node.inputs, reserved))
      return { path: [id, "inputs", reserved], message: "The name is reserved" };
    for (const [field, value] of Object.entries(node.inputs)) {
      if (!isWorkflowLink(value) || Object.hasOwn(workflow, value[0])) continue;
      return { path: [id, "inputs", field], message: `Links to node ${shown(value[0])}, which is not in the workflow` };
    }
  }
  return undefined;
}

/** Every input must reach a field of the workflow, and every binding must exist: a typo would have no effect. */
export function checkWorkflow(
  { input, output }: Fields,
  backend: unknown,
  path: Path,
  ctx: z.RefinementCtx<unknown>,
): void {
  if (!isRecord(backend) || backend.type !== "comfyui" || !isRecord(backend.workflow)) return;
  const { workflow } = backend;
  const fault = workflowFault(workflow);
  if (fault) {
    tell(ctx, [...path, "workflow", ...fault.path], fault.message);
    return;
  }
  const inputs = isRecord(backend.inputs) ? backend.inputs : {};
  checkInputs(fieldsOf(input), inputs, workflow as Workflow, path, ctx);
  const outputs = isRecord(backend.outputs) ? backend.outputs : {};
  for (const [name, node] of Object.entries(outputs)) {
    const at = [...path, "outputs", name];
    const known = fieldsOf(output);
    if (known && !Object.hasOwn(known, name)) tell(ctx, at, "The output has no field of this name");
    else if (typeof node === "string" && !Object.hasOwn(workflow, node)) {
      tell(ctx, at, `The workflow has no node ${shown(node)}. Its nodes: ${listed(Object.keys(workflow))}`);
    }
  }
}

function fieldsOf(schema: unknown): Fields | undefined {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties : undefined;
}

function checkInputs(
  fields: Fields | undefined,
  inputs: Fields,
  workflow: Workflow,
  path: Path,
  ctx: z.RefinementCtx<unknown>,
): void {
  const boundBy = new Map<string, string>();
  for (const [name, binding] of Object.entries(inputs)) {
    const at = [...path, "inputs", name];
    if (fields && !Object.hasOwn(fields, name)) {
      tell(ctx, at, "The input has no field of this name");
      continue;
    }
    for (const [index, text] of workflowTargets(binding).entries()) {
      const problem = faultOfTarget(text, fields?.[name], workflow) ?? faultOfSecond(boundBy.get(text), name);
      if (problem) tell(ctx, Array.isArray(binding) ? [...at, index] : at, problem);
      boundBy.set(text, name);
    }
  }
  for (const name of Object.keys(fields ?? {})) {
    if (Object.hasOwn(inputs, name)) continue;
    tell(ctx, ["input", "properties", name], `Would have no effect. Bind it to a field: backend.inputs.${name}`);
  }
}

function faultOfSecond(first: string | undefined, name: string): string | undefined {
  return first === undefined ? undefined : first === name ? "Listed twice" : `Already bound to the input ${first}`;
}

function faultOfTarget(text: string, input: unknown, workflow: Workflow): string | undefined {
  const target = workflowTarget(text);
  if (!target) return "Must be the id of a node, a dot and the name of a field, such as 6.text";
  const node = Object.hasOwn(workflow, target.node) ? workflow[target.node] : undefined;
  if (!node) return `The workflow has no node ${shown(target.node)}. Its nodes: ${listed(Object.keys(workflow))}`;
  if (!Object.hasOwn(node.inputs, target.field)) {
    const names = listed(Object.keys(node.inputs));
    return `Node ${target.node} (${shown(node.class_type)}) has no field ${shown(target.field)}. Its fields: ${names}`;
  }
  return target.isMask && isRecord(input) && input.format !== "binary" ? "Only a file can be a mask" : undefined;
}

function shown(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

function listed(names: readonly string[]): string {
  const more = names.length > mostShown ? ", …" : "";
  return names.length === 0 ? "none" : names.slice(0, mostShown).map(shown).join(", ") + more;
}
