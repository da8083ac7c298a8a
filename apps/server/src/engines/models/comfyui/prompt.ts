import { randomInt, randomUUID } from "node:crypto";
import { type FieldSchema, isWorkflowLink, type Workflow, workflowTarget, workflowTargets } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";
import { type FileInput, filesIn, type InputValue, isFileInput, type ModelCall } from "../driver.ts";
import type { Mask } from "../mask.ts";
import { type MediaBackend, postUpstream } from "../media/call.ts";
import { isJsonObject } from "../media/output-fields.ts";
import { multipartBody, type Part, plainFilename } from "../media/request-body.ts";
import { broken, joinUrl, UpstreamFailure } from "../upstream.ts";
import { parseJson } from "./python-json.ts";
import { comfyHeaders } from "./server.ts";

export interface ComfyBackend extends MediaBackend {
  workflow: Workflow;
  /** By input: one `node.field` or several. */
  inputs: Readonly<Record<string, string | readonly string[]>>;
  /** By output: the id of its node. */
  outputs: Readonly<Record<string, string>>;
}

/** ComfyUI never deletes uploads, so they are in a folder that the operator can empty. */
const uploadFolder = "gantry";
/** Only the editor uses these. They are part of some exports. */
const editorOnly = ["control_after_generate", "control_before_generate"];
const seedFields = new Set(["seed", "noise_seed"]);
/** Some nodes take 32 bits, others 64. */
const defaultSeeds = 2 ** 32;
const mostSeeds = 2 ** 48 - 1;
/** A seed near the end of 64 bits becomes 2^64 in JavaScript, which ComfyUI refuses. */
const firstBeyond64Bits = 2 ** 64;
const last64Bits = firstBeyond64Bits - 2048;

/** The workflow with the values of a call. Files are uploaded first. An absent input keeps the workflow's value. */
export async function promptOf(backend: ComfyBackend, call: ModelCall): Promise<Workflow> {
  const prompt = cleaned(backend.workflow);
  const masks: BoundFile[] = [];
  for (const [name, binding] of Object.entries(backend.inputs)) {
    const targets = workflowTargets(binding);
    const value = call.input[name] ?? randomSeed(targets, backend.input.properties[name]);
    if (value === undefined || value === null) continue;
    const files = boundFiles(name, value, targets);
    if (!files) {
      const literal = literalOf(name, value);
      for (const target of targets) assign(prompt, target, literal);
    }
    for (const bound of files ?? []) {
      const images = bound.targets.filter((target) => !isMask(target));
      if (images.length > 0) {
        const uploaded = await uploadFile(backend, call, { ...bound, route: "upload/image", more: [] });
        for (const target of images) assign(prompt, target, uploaded);
      }
      masks.push({ ...bound, targets: bound.targets.filter(isMask) });
    }
  }
  // A mask becomes the alpha channel of its image, so the image must be there.
  for (const bound of masks) {
    for (const target of bound.targets) {
      const original = JSON.stringify({ filename: valueAt(prompt, target), type: "input", subfolder: "" });
      const more = [{ name: "original_ref", value: original }];
      assign(prompt, target, await uploadFile(backend, call, { ...bound, route: "upload/mask", more }));
    }
  }
  return prompt;
}

interface BoundFile {
  /** Of the input. */
  name: string;
  file: FileInput;
  targets: readonly string[];
}

/** One file sets all fields of its input; the files of a list set one field each. Undefined for other values. */
function boundFiles(name: string, value: InputValue, targets: readonly string[]): BoundFile[] | undefined {
  if (isFileInput(value)) return [{ name, file: value, targets }];
  const files = filesIn(value);
  if (files.length === 0) return undefined;
  if (files.length > targets.length) {
    const msg = `The model takes at most ${targets.length} files here.`;
    throw fault("sequence_too_long", msg, { loc: ["body", name], ctx: { max_length: targets.length } });
  }
  return files.map((file, index) => ({ name, file, targets: targets.slice(index, index + 1) }));
}

function isMask(target: string): boolean {
  return workflowTarget(target)?.isMask === true;
}

function cleaned(workflow: Workflow): Workflow {
  const prompt: Workflow = {};
  for (const [id, { class_type, inputs, _meta }] of Object.entries(workflow)) {
    const kept = Object.entries(inputs).filter(([field]) => !editorOnly.includes(field));
    const safe = kept.map(([field, value]) => [field, value === firstBeyond64Bits ? last64Bits : value]);
    prompt[id] = { class_type, inputs: Object.fromEntries(safe), ...(_meta && { _meta }) };
  }
  return prompt;
}

function randomSeed(targets: readonly string[], field: FieldSchema | undefined): number | undefined {
  if (!targets.some((target) => seedFields.has(workflowTarget(target)?.field ?? ""))) return undefined;
  const least = Math.ceil(field?.minimum ?? 0);
  const most = Math.floor(field?.maximum ?? least + defaultSeeds - 1);
  return most <= least ? least : randomInt(least, Math.min(most, least + mostSeeds - 1) + 1);
}

/** ComfyUI takes a list of a text and a number for a link between nodes, also if it is wrapped. */
function literalOf(name: string, value: unknown): unknown {
  const isWrapped = isJsonObject(value) && Object.hasOwn(value, "__value__");
  if (isWrapped || isWorkflowLink(value)) {
    throw fault("value_error", "The model does not accept this value.", { loc: ["body", name] });
  }
  if (Array.isArray(value)) return { __value__: value };
  return value === firstBeyond64Bits ? last64Bits : value;
}

function assign(prompt: Workflow, text: string, value: unknown): void {
  const target = workflowTarget(text);
  const node = target && Object.hasOwn(prompt, target.node) ? prompt[target.node] : undefined;
  if (target && node) node.inputs[target.field] = value;
}

function valueAt(prompt: Workflow, text: string): unknown {
  const target = workflowTarget(text);
  return target && prompt[target.node]?.inputs[target.field];
}

/** The name under which a node loads the file. The name is unique, so a retry may overwrite the file. */
async function uploadFile(
  backend: ComfyBackend,
  call: ModelCall,
  upload: Pick<BoundFile, "name" | "file"> & { route: string; more: Part[] },
): Promise<string> {
  const { name, file, route, more } = upload;
  const parts: Part[] = [
    { name: "image", file, filename: plainFilename(randomUUID(), file) },
    { name: "type", value: "input" },
    { name: "subfolder", value: uploadFolder },
    { name: "overwrite", value: "true" },
    ...more,
  ];
  const answer = await postUpstream(
    backend,
    {
      url: joinUrl(backend.url, route),
      headers: comfyHeaders(backend),
      signal: call.signal,
      bounds: { maxBytes: 64 * 1024 },
      explain: (status, body) => (status === 413 ? tooLarge(name, body, backend.mask) : undefined),
    },
    multipartBody(parts),
  );
  const stored = parseJson(await answer.body.text());
  if (!isJsonObject(stored) || typeof stored.name !== "string" || stored.name === "") {
    throw broken(new Error("The upstream did not name the uploaded file"));
  }
  return typeof stored.subfolder === "string" && stored.subfolder !== ""
    ? `${stored.subfolder}/${stored.name}`
    : stored.name;
}

function tooLarge(name: string, body: string, mask: Mask) {
  const cause = new UpstreamFailure({ status: 413, body, mask });
  return fault("file_too_large", "The service behind the model does not accept files of this size.", {
    loc: ["body", name],
    cause,
  });
}
