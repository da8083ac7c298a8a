import { type FieldSchema, fileFieldOf } from "@gantry/wire";
import type { FileOutput, ModelCall, OutputValue } from "../driver.ts";
import { dropFiles, isJsonObject, makesFiles, mediaOf, noMedia, typesOf } from "../media/output-fields.ts";
import { fileAt, type Media } from "../media/output-files.ts";
import { broken, joinUrl } from "../upstream.ts";
import type { ComfyBackend } from "./prompt.ts";
import { comfyHeaders } from "./server.ts";

/** A file that a node has saved (`output`) or only shown (`temp`). */
interface NodeFile {
  node: string;
  filename: string;
  subfolder: string;
  type: string;
}

const extensions: Readonly<Record<Exclude<Media, "file">, RegExp>> = {
  image: /\.(png|jpe?g|webp|gif|bmp|tiff?|avif|apng|svg)$/i,
  video: /\.(mp4|webm|mov|mkv|avi|gif|webp|apng)$/i,
  audio: /\.(mp3|flac|wav|ogg|opus|m4a|aac)$/i,
};
const kinds = Object.values(extensions);
/** Looked at in one answer. */
const mostFiles = 1000;

/** Nodes bound to an output for which the server lists nothing. */
export function missesOutput(backend: ComfyBackend, outputs: Readonly<Record<string, unknown>>): string[] {
  const wanted = new Set(Object.values(backend.outputs));
  return [...wanted].filter((node) => !Object.hasOwn(outputs, node));
}

/**
 * Opens the files of the nodes and reads their texts. Files of one node fill the fields bound to it in order; a list takes
 * all that are left.
 */
export async function outputOf(
  backend: ComfyBackend,
  call: ModelCall,
  outputs: Readonly<Record<string, unknown>>,
): Promise<Record<string, OutputValue>> {
  const made = filesIn(outputs);
  const filled: Record<string, OutputValue> = {};
  const opened: FileOutput[] = [];
  const open = async (file: NodeFile, media: Media) => {
    const output = await fileAt(backend, call, viewUrl(backend, file), media, comfyHeaders(backend));
    opened.push(output);
    return output;
  };
  try {
    for (const [name, field] of Object.entries(backend.output.properties)) {
      const node = Object.hasOwn(backend.outputs, name) ? backend.outputs[name] : undefined;
      const files = fileFieldOf(field);
      if (files?.list) {
        const media = mediaOf(files.file);
        const taken: FileOutput[] = [];
        for (const file of takeFiles(made, node, media, files.list.most)) taken.push(await open(file, media));
        if (taken.length > 0) filled[name] = taken;
      } else if (files) {
        const file = takeFile(made, node, mediaOf(field));
        if (file) filled[name] = await open(file, mediaOf(field));
      } else {
        const value = shownBy(field, node === undefined ? Object.values(outputs) : [outputs[node]]);
        if (value !== undefined) filled[name] = value;
        if (field.isStream === true && typeof value === "string") await call.onFragment(name, value);
      }
    }
    if (opened.length === 0 && makesFiles(backend.output)) throw noMedia();
  } catch (error) {
    dropFiles({ opened });
    throw error;
  }
  return filled;
}

/** The caller has reserved the price of that many files. */
function takeFiles(files: NodeFile[], node: string | undefined, media: Media, most: number): NodeFile[] {
  const taken: NodeFile[] = [];
  for (let file = takeFile(files, node, media); file; file = takeFile(files, node, media)) taken.push(file);
  if (taken.length <= most) return taken;
  const sentence = `The model returned ${taken.length} files. Its manifest allows ${most}; raise maxItems of the output.`;
  throw broken(new Error(sentence), sentence);
}

/** Saved files first. Besides `images` there are `gifs`, `audio`, `video` and names that only one node uses. */
function filesIn(outputs: Readonly<Record<string, unknown>>): NodeFile[] {
  const files: NodeFile[] = [];
  for (const [node, lists] of Object.entries(outputs)) {
    for (const list of Object.values(isJsonObject(lists) ? lists : {})) {
      for (const file of Array.isArray(list) ? list : []) {
        if (!isJsonObject(file) || typeof file.filename !== "string" || file.filename === "") continue;
        const { filename, subfolder, type } = file;
        const text = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise);
        files.push({ node, filename, subfolder: text(subfolder, ""), type: text(type, "output") });
      }
    }
  }
  const order = files.toSorted((one, other) => Number(one.type === "temp") - Number(other.type === "temp"));
  return order.slice(0, mostFiles);
}

/** A video node may also save a still picture of its first frame. */
function takeFile(files: NodeFile[], node: string | undefined, media: Media): NodeFile | undefined {
  const own = node === undefined ? files : files.filter((file) => file.node === node);
  const found = own.find((file) => fits(file, media)) ?? (node === undefined ? undefined : own[0]);
  if (found) files.splice(files.indexOf(found), 1);
  return found;
}

function fits({ filename }: NodeFile, media: Media): boolean {
  if (media === "file" || extensions[media].test(filename)) return true;
  return !kinds.some((kind) => kind.test(filename));
}

function viewUrl({ url }: ComfyBackend, { filename, subfolder, type }: NodeFile): string {
  return `${joinUrl(url, "view")}?${new URLSearchParams({ filename, subfolder, type })}`;
}

/** Nodes that show a text report it as `text`, a list. */
function shownBy(field: FieldSchema, nodes: readonly unknown[]): OutputValue | undefined {
  const types = typesOf(field);
  for (const lists of nodes.filter(isJsonObject)) {
    const list = lists.text ?? lists.string ?? lists.value ?? lists.result;
    const values: unknown[] = Array.isArray(list) ? list : list === undefined ? [] : [list];
    const plain = values.filter((value) => ["string", "number", "boolean"].includes(typeof value));
    if (plain.length === 0) continue;
    if (types.includes("array")) return plain;
    if (types.includes("string")) return plain.map(String).join("\n");
    const [first] = plain;
    const isNumber = types.includes("number") || types.includes("integer");
    return isNumber ? Number(first) : (first as OutputValue);
  }
  return undefined;
}
