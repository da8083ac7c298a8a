import type { Manifest } from "@gantry/wire";
import type { FormFile } from "../../features/predictions/index.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { chooseSize } from "./images-size.rules.ts";

/** A request in either form. Values of a form are texts. */
export interface ImagesBody {
  fields: Readonly<Record<string, unknown>>;
  /** Files, or addresses of files. */
  images: readonly (FormFile | string)[];
  mask: FormFile | string | undefined;
}

export interface ImagesRequest {
  count: number;
  isLink: boolean;
  /** Inputs of the model. Those of `files` are file fields. */
  values: Record<string, unknown>;
  files: ReadonlyMap<string, FormFile>;
  /** The size that replaces the requested one. */
  replacedSize: string | undefined;
}

const mostImages = 4;

/** Fields that are read here, or that concern only the client. Others are inputs, if the model has them. */
const ownFields = new Set(["model", "prompt", "n", "size", "stream", "partial_images", "response_format", "user"]);

/** Reads a request of OpenAI's images API for a model. Throws faults that name the field. */
export function readImagesRequest({ input }: Manifest, { fields, images, mask }: ImagesBody): ImagesRequest {
  const { prompt, n, size, stream, response_format: format } = fields;
  if (prompt === undefined || prompt === null || prompt === "") {
    throw fault("missing", "Field required", { loc: ["body", "prompt"] });
  }
  if (typeof prompt !== "string") throw wrong("prompt", "prompt must be a text.");
  if (stream === true || stream === "true") throw wrong("stream", "Images cannot be streamed. Leave stream out.");
  const chosen = chooseSize(input, size);
  const values: Record<string, unknown> = { ...forwarded(input, fields), ...chosen.values };
  if (Object.hasOwn(input.properties, "prompt")) values.prompt = prompt;
  const files = new Map<string, FormFile>();
  const place = (name: string, file: FormFile | string) => {
    values[name] = typeof file === "string" ? file : name;
    if (typeof file !== "string") files.set(name, { ...file, name });
  };
  for (const [name, file] of placedImages(input, images)) place(name, file);
  if (mask !== undefined) {
    if (input.properties.mask?.format !== "binary")
      throw wrong("mask", "The model does not accept a mask. Leave mask out.");
    place("mask", mask);
  }
  return { count: countOf(n), isLink: isLink(format), values, files, replacedSize: chosen.replaced };
}

/** Fields that have the name of an input. `auto` stands for the model's default. */
function forwarded({ properties }: Manifest["input"], fields: ImagesBody["fields"]): Record<string, unknown> {
  const isInput = ([name, value]: [string, unknown]) => {
    if (ownFields.has(name) || !Object.hasOwn(properties, name) || value === null) return false;
    return value !== "auto" || Boolean(properties[name]?.enum?.includes("auto"));
  };
  return Object.fromEntries(Object.entries(fields).filter(isInput));
}

/** Images fill the image inputs of the model in order. */
function placedImages({ properties }: Manifest["input"], images: ImagesBody["images"]) {
  const inputs = Object.entries(properties).flatMap(([name, { format, "x-media": media }]) =>
    format === "binary" && media === "image" && name !== "mask" ? [name] : [],
  );
  if (images.length > inputs.length) {
    const msg =
      inputs.length === 0
        ? "The model does not accept images. Call /v1/images/generations, or choose another model."
        : `The model accepts at most ${inputs.length} images, and the request has ${images.length}.`;
    throw wrong("image", msg);
  }
  return images.map((image, index) => [inputs[index] ?? "", image] as const);
}

function countOf(n: unknown): number {
  if (n === undefined || n === null || n === "") return 1;
  const count = typeof n === "string" ? Number(n) : n;
  if (typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= mostImages) return count;
  throw wrong("n", `n must be a whole number from 1 to ${mostImages}.`);
}

/** Clients of today's image models expect the bytes. */
function isLink(format: unknown): boolean {
  if (format === undefined || format === null || format === "b64_json") return false;
  if (format === "url") return true;
  throw wrong("response_format", "response_format must be url or b64_json.");
}

function wrong(name: string, message: string): Fault {
  return fault("value_error", message, { loc: ["body", name] });
}
