import { isWorkflowLink, type Workflow, type WorkflowNode } from "@gantry/wire";

type Side = "positive" | "negative";

/** Fields of nodes that turn a text into conditioning. Some have one for each text encoder. */
const textFields = ["text", "prompt", "text_g", "text_l", "clip_l", "clip_g", "t5xxl", "llama"];
/** Fields of nodes that only hold a text. */
const literalFields = ["value", "text", "string", "prompt"];
const longestTrail = 50;

export interface PromptTargets {
  prompt: string[];
  negative: string[];
}

/**
 * The fields that hold the prompt and the negative prompt, found by following the links back from the samplers. Nodes
 * without a sampler, such as those that call a vendor, have a field `prompt`.
 */
export function promptTargets(workflow: Workflow): PromptTargets {
  const found = { positive: new Set<string>(), negative: new Set<string>() };
  for (const { inputs } of Object.values(workflow)) {
    for (const side of ["positive", "negative"] as const) trace(workflow, inputs[side], side, found[side]);
    if (!isWorkflowLink(inputs.positive)) trace(workflow, inputs.conditioning, "positive", found.positive);
  }
  const prompt = [...found.positive];
  // Models without a negative prompt get an emptied copy of the positive one.
  const negative = [...found.negative].filter((target) => !found.positive.has(target));
  return prompt.length > 0 ? { prompt, negative } : { prompt: unlinkedPrompt(workflow), negative: [] };
}

function trace(workflow: Workflow, link: unknown, side: Side, found: Set<string>, trail = new Set<string>()): void {
  if (!isWorkflowLink(link) || trail.has(link[0]) || trail.size >= longestTrail) return;
  trail.add(link[0]);
  const node = nodeAt(workflow, link[0]);
  if (!node) return;
  const texts = textFields.flatMap((field) => textTarget(workflow, link[0], field));
  for (const target of texts) found.add(target);
  if (texts.length > 0) return;
  // A node such as a ControlNet passes both sides on.
  const same = node.inputs[side];
  const next = isWorkflowLink(same)
    ? [same]
    : Object.entries(node.inputs).flatMap(([field, value]) => (/^(conditioning|guider)/.test(field) ? [value] : []));
  for (const value of next) trace(workflow, value, side, found, trail);
}

/** The field itself, or the field of the node that holds its text. */
function textTarget(workflow: Workflow, id: string, field: string): string[] {
  const value = nodeAt(workflow, id)?.inputs[field];
  if (typeof value === "string") return [`${id}.${field}`];
  if (!isWorkflowLink(value)) return [];
  const holder = nodeAt(workflow, value[0]);
  const literal = literalFields.find((name) => typeof holder?.inputs[name] === "string");
  return literal === undefined ? [] : [`${value[0]}.${literal}`];
}

function unlinkedPrompt(workflow: Workflow): string[] {
  for (const field of ["prompt", "text"]) {
    const id = Object.keys(workflow).find((node) => typeof workflow[node]?.inputs[field] === "string");
    if (id !== undefined) return [`${id}.${field}`];
  }
  return [];
}

function nodeAt(workflow: Workflow, id: string): WorkflowNode | undefined {
  return Object.hasOwn(workflow, id) ? workflow[id] : undefined;
}
