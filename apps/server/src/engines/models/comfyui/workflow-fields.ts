import { type FieldSchema, isWorkflowLink, type Workflow, workflowTarget } from "@gantry/wire";
import { isJsonObject } from "../media/output-fields.ts";

/** An input of an imported model, with the fields of the workflow that it sets. */
export interface FoundInput {
  name: string;
  targets: string[];
  field: FieldSchema;
  isRequired: boolean;
}

interface NumberRow {
  name: string;
  title: string;
  type: "integer" | "number";
  fields: readonly string[];
  classes: RegExp;
  /** Nodes allow far more than a server can do. A larger value of the workflow itself is kept. */
  most: number;
  least: number;
  description?: string;
}

const latents = /^Empty|ToVideo$|LatentVideo|LatentImage/;
const samplers = /Sampler|Scheduler/;

/** Numbers that people change, in the order of the form. */
const numberRows: readonly NumberRow[] = [
  { name: "width", title: "Width", type: "integer", fields: ["width"], classes: latents, least: 16, most: 2048 },
  { name: "height", title: "Height", type: "integer", fields: ["height"], classes: latents, least: 16, most: 2048 },
  { name: "length", title: "Frames", type: "integer", fields: ["length"], classes: latents, least: 1, most: 257 },
  {
    name: "fps",
    title: "Frames per second",
    type: "number",
    fields: ["fps", "frame_rate"],
    classes: /Video|WEBM|WEBP|APNG|AnimatedPNG/,
    least: 1,
    most: 60,
  },
  { name: "steps", title: "Steps", type: "integer", fields: ["steps"], classes: samplers, least: 1, most: 100 },
  {
    name: "cfg",
    title: "CFG",
    type: "number",
    fields: ["cfg"],
    classes: /Sampler|Guider/,
    least: 0,
    most: 30,
    description: "How closely to follow the prompt.",
  },
  {
    name: "guidance",
    title: "Guidance",
    type: "number",
    fields: ["guidance"],
    classes: /Guidance|TextEncode/,
    least: 0,
    most: 30,
    description: "How closely to follow the prompt.",
  },
];

interface FileRow {
  name: string;
  title: string;
  media: "image" | "video" | "audio";
  field: string;
  classes: RegExp;
}

const fileRows: readonly FileRow[] = [
  { name: "image", title: "Image", media: "image", field: "image", classes: /^LoadImage$/ },
  { name: "mask", title: "Mask", media: "image", field: "image", classes: /^LoadImageMask$/ },
  { name: "video", title: "Video", media: "video", field: "file", classes: /^LoadVideo$/ },
  { name: "video", title: "Video", media: "video", field: "video", classes: /^VHS_LoadVideo$/ },
  { name: "audio", title: "Audio", media: "audio", field: "audio", classes: /^(LoadAudio|VHS_LoadAudioUpload)$/ },
];

/** Nodes by class, as `/object_info` describes them. */
export type ObjectInfo = Readonly<Record<string, unknown>>;

export function foundNumbers(workflow: Workflow, info: ObjectInfo): FoundInput[] {
  return numberRows.flatMap((row) => {
    const targets = literals(workflow, row.fields, row.classes);
    const values = new Set(targets.map((target) => valueAt(workflow, target)));
    const [value] = values;
    // Different values at several places are not one input.
    if (values.size !== 1 || typeof value !== "number") return [];
    const { min, max } = boundsAt(workflow, targets, info);
    const minimum = Math.min(value, Math.max(row.least, min ?? row.least));
    const maximum = Math.max(value, Math.min(row.most, max ?? row.most));
    const type = row.type === "integer" && Number.isInteger(value) ? "integer" : "number";
    const { name, title, description } = row;
    const field = { type, title, ...(description && { description }), default: value, minimum, maximum };
    return [{ name, targets, field, isRequired: false }];
  });
}

/** Null is a random seed. Larger seeds than JavaScript's integers cannot be given. */
export function foundSeed(workflow: Workflow, info: ObjectInfo): FoundInput[] {
  const targets = literals(workflow, ["seed", "noise_seed"], /./);
  if (targets.length === 0) return [];
  const { max } = boundsAt(workflow, targets, info);
  const maximum = Math.min(max ?? 2 ** 32 - 1, Number.MAX_SAFE_INTEGER);
  const field = {
    type: ["integer", "null"],
    title: "Seed",
    description: "The same seed gives the same result. Leave it out for a random one.",
    default: null,
    minimum: 0,
    maximum,
  };
  return [{ name: "seed", targets, field, isRequired: false }];
}

/** Files that the workflow loads. The transparent part of an image is its mask, if the workflow uses it. */
export function foundFiles(workflow: Workflow): FoundInput[] {
  const found: FoundInput[] = [];
  const nameOf = (name: string) => {
    const taken = found.filter((input) => input.name === name || input.name.startsWith(`${name}_`)).length;
    return taken === 0 ? name : `${name}_${taken + 1}`;
  };
  const add = (row: Pick<FileRow, "name" | "title" | "media">, target: string, isRequired: boolean) => {
    const type = isRequired ? "string" : ["string", "null"];
    const field = { type, title: row.title, format: "binary", "x-media": row.media };
    found.push({ name: nameOf(row.name), targets: [target], field, isRequired });
  };
  for (const row of fileRows) {
    for (const target of literals(workflow, [row.field], row.classes, "string")) add(row, target, true);
  }
  if (found.some(({ name }) => name === "mask")) return found;
  const withMask = nodesWithMask(workflow);
  const images = literals(workflow, ["image"], /^LoadImage$/, "string");
  const masked = images.find((target) => withMask.has(workflowTarget(target)?.node ?? ""));
  if (masked !== undefined) {
    add({ name: "mask", title: "Mask", media: "image" }, `${masked}#mask`, false);
    const mask = found.at(-1);
    if (mask) mask.field.description = "Its transparent part is changed.";
  }
  return found;
}

/** Nodes whose second output is used: of `LoadImage` it is the mask. */
function nodesWithMask(workflow: Workflow): Set<string> {
  const values = Object.values(workflow).flatMap(({ inputs }) => Object.values(inputs));
  return new Set(
    values.filter((value) => isWorkflowLink(value) && value[1] === 1).map((link) => (link as string[])[0] ?? ""),
  );
}

/** Fields with a value of their own, not a link. */
export function literals(
  workflow: Workflow,
  fields: readonly string[],
  classes: RegExp,
  type: "number" | "string" = "number",
): string[] {
  return Object.entries(workflow).flatMap(([id, node]) =>
    classes.test(node.class_type)
      ? fields.filter((field) => typeof node.inputs[field] === type).map((field) => `${id}.${field}`)
      : [],
  );
}

export function valueAt(workflow: Workflow, text: string): unknown {
  const target = workflowTarget(text);
  return target && workflow[target.node]?.inputs[target.field];
}

/** The narrowest of all nodes. */
export function boundsAt(
  workflow: Workflow,
  targets: readonly string[],
  info: ObjectInfo,
): { min: number | undefined; max: number | undefined } {
  const declared = targets.map((text) => declaredBounds(workflow, text, info));
  const numbers = (name: "min" | "max") =>
    declared.map((bounds) => bounds[name]).filter((value) => typeof value === "number");
  const [least, most] = [numbers("min"), numbers("max")];
  return {
    min: least.length > 0 ? Math.max(...least) : undefined,
    max: most.length > 0 ? Math.min(...most) : undefined,
  };
}

/** `/object_info` lists `[type, {min, max, …}]` for each field. */
function declaredBounds(workflow: Workflow, text: string, info: ObjectInfo): Record<string, unknown> {
  const target = workflowTarget(text);
  const name = target && workflow[target.node]?.class_type;
  const node = name !== undefined && Object.hasOwn(info, name) ? info[name] : undefined;
  const inputs = isJsonObject(node) && isJsonObject(node.input) ? node.input : {};
  for (const group of [inputs.required, inputs.optional]) {
    const field: unknown = isJsonObject(group) && target ? group[target.field] : undefined;
    if (Array.isArray(field) && isJsonObject(field[1])) return field[1];
  }
  return {};
}
