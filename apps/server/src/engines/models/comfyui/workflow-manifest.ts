import type { BackendConfig, Manifest, Workflow } from "@gantry/wire";
import {
  boundsAt,
  type FoundInput,
  foundFiles,
  foundNumbers,
  foundSeed,
  literals,
  type ObjectInfo,
  valueAt,
} from "./workflow-fields.ts";
import { foundOutputs } from "./workflow-outputs.ts";
import { promptTargets } from "./workflow-prompts.ts";

export interface WorkflowManifest extends Pick<Manifest, "title" | "kind" | "timeout_seconds" | "input" | "output"> {
  /** The importer adds url and secret. */
  backend: { type: "comfyui"; workflow: Workflow } & Pick<BackendConfig, "inputs" | "outputs">;
}

const timeLimits: Partial<Record<Manifest["kind"], number>> = { video: 3600 };
const timeLimit = 600;
/** Images of one run. */
const mostImages = 4;
const modelFields = ["ckpt_name", "unet_name", "model_name"];

/** A manifest whose inputs are the fields that people change; undefined if the workflow saves no file. */
export function manifestOfWorkflow(given: Workflow, info: ObjectInfo = {}): WorkflowManifest | undefined {
  const title = titleOf(given);
  const texts = promptTargets(given);
  const workflow = withoutNotes(given, texts.prompt);
  const batch = foundBatch(workflow, info);
  const outputs = foundOutputs(workflow, batch ? mostImages : 1);
  if (!outputs) return undefined;
  const isBatch = batch && Object.keys(outputs.properties).length === mostImages && outputs.required.length === 1;
  const found: FoundInput[] = [
    ...foundTexts(given, texts),
    ...foundFiles(workflow),
    ...foundNumbers(workflow, info),
    ...(isBatch ? [batch] : []),
    ...foundSeed(workflow, info),
  ];
  const byName = <Value>(part: (input: FoundInput) => Value) =>
    Object.fromEntries(found.map((input) => [input.name, part(input)]));
  return {
    title,
    kind: outputs.kind,
    timeout_seconds: timeLimits[outputs.kind] ?? timeLimit,
    input: {
      type: "object",
      required: found.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      properties: byName(({ field }) => field),
    },
    output: { type: "object", required: outputs.required, properties: outputs.properties },
    backend: {
      type: "comfyui",
      workflow,
      inputs: byName(({ targets }) => (targets.length === 1 ? (targets[0] ?? "") : targets)),
      outputs: outputs.nodes,
    },
  };
}

/** Without titles of nodes, and without the prompt of the last run. */
function withoutNotes(workflow: Workflow, prompts: readonly string[]): Workflow {
  const emptied = new Set(prompts);
  return Object.fromEntries(
    Object.entries(workflow).map(([id, { class_type, inputs }]) => {
      const kept = Object.entries(inputs).map(([field, value]) => [field, emptied.has(`${id}.${field}`) ? "" : value]);
      return [id, { class_type, inputs: Object.fromEntries(kept) }];
    }),
  );
}

function foundTexts(workflow: Workflow, { prompt, negative }: ReturnType<typeof promptTargets>): FoundInput[] {
  const found: FoundInput[] = [];
  if (prompt.length > 0) {
    const field = { type: "string", title: "Prompt", minLength: 1 };
    found.push({ name: "prompt", targets: prompt, field, isRequired: true });
  }
  const [first] = negative;
  if (first !== undefined) {
    const field = {
      type: "string",
      title: "Negative prompt",
      description: "What the result must not show.",
      default: String(valueAt(workflow, first) ?? ""),
    };
    found.push({ name: "negative_prompt", targets: negative, field, isRequired: false });
  }
  return found;
}

function foundBatch(workflow: Workflow, info: ObjectInfo): FoundInput | undefined {
  const targets = literals(workflow, ["batch_size"], /^Empty.*LatentImage$/);
  const values = new Set(targets.map((target) => valueAt(workflow, target)));
  const [value] = values;
  if (values.size !== 1 || typeof value !== "number" || !Number.isInteger(value) || value < 1) return undefined;
  const maximum = Math.min(mostImages, boundsAt(workflow, targets, info).max ?? mostImages);
  const field = { type: "integer", title: "Images", default: Math.min(value, maximum), minimum: 1, maximum };
  return { name: "batch_size", targets, field, isRequired: false };
}

/** The name under which it saves, else the file of its model. */
export function titleOf(workflow: Workflow): string {
  const nodes = Object.values(workflow);
  const prefix = nodes.map(({ inputs }) => inputs.filename_prefix).find((text) => typeof text === "string");
  const saved = typeof prefix === "string" ? (prefix.split(/[\\/]/).at(-1) ?? "") : "";
  if (saved !== "" && !/comfyui|%/i.test(saved)) return shortened(saved);
  for (const field of modelFields) {
    const file = nodes.map(({ inputs }) => inputs[field]).find((text) => typeof text === "string" && text !== "");
    if (typeof file === "string") return shortened((file.split(/[\\/]/).at(-1) ?? file).replace(/\.[a-z0-9]+$/i, ""));
  }
  return "ComfyUI workflow";
}

function shortened(text: string): string {
  const clean = text.replaceAll(/\p{C}+/gu, " ").trim();
  return clean === "" ? "ComfyUI workflow" : clean.slice(0, 100);
}
