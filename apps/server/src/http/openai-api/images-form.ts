import type { FieldSchema, ObjectSchema } from "@gantry/wire";
import type { FormFile, FormReader, Predictions, ReceivedForm } from "../../features/predictions/index.ts";
import { Fault, fault, type Issue } from "../../kernel/errors.ts";
import type { ImagesBody } from "./images-request.ts";

/** As in OpenAI's API. */
const mostImages = 16;

const image: FieldSchema = { type: ["string", "null"], format: "binary", "x-media": "image" };
const partNames = Array.from({ length: mostImages }, (_, index) => `image${index}`);

/** A form names its model anywhere, so files are received before the model's own fields are known. */
const editForm: ObjectSchema = {
  type: "object",
  properties: Object.fromEntries([...partNames, "mask"].map((name) => [name, image])),
};

export interface ReceivedEdit {
  body: ImagesBody;
  /** Of the form as sent. */
  fingerprint: string;
  /** Deletes the files. */
  dispose: ReceivedForm["dispose"];
}

/** Receives the form of `/v1/images/edits` with its files. */
export async function receiveEdit(
  predictions: Pick<Predictions, "receiveForm">,
  readForm: FormReader,
  signal: AbortSignal,
): Promise<ReceivedEdit> {
  const received = await predictions
    .receiveForm({
      model: { manifest: { input: editForm } },
      extras: { user: false, webhook: false },
      readForm: withNumberedImages(readForm),
      mayBeRepeat: async () => false,
      signal,
    })
    .catch((error: unknown) => {
      throw namingImages(error, (name) => partNames.includes(name));
    });
  try {
    return { ...received, body: await bodyOf(received.read, signal) };
  } catch (error) {
    await received.dispose();
    throw error;
  }
}

/** A fault of a file under the name that clients know: whatever the model calls its inputs, the part was `image`. */
export function namingImages(error: unknown, isImage: (name: string) => boolean): unknown {
  if (!(error instanceof Fault)) return error;
  const named = (issue: Issue): Issue => {
    const [where = "body", name, ...rest] = issue.loc;
    return typeof name === "string" && isImage(name) ? { ...issue, loc: [where, "image", ...rest] } : issue;
  };
  const [first, ...more] = error.issues;
  const { retryable, headers, cause } = error;
  return new Fault([named(first), ...more.map(named)], { retryable, headers, cause });
}

const imagePart = /^image(\[\d*\])?$/;

/** Clients send several images as `image[]`, or repeat `image`. */
function withNumberedImages(readForm: FormReader): FormReader {
  return async ({ onFile, signal }) => {
    let images = 0;
    const nameOf = (part: string) => {
      if (!imagePart.test(part)) return part;
      if (images === mostImages) {
        throw fault("value_error", `At most ${mostImages} images are allowed.`, { loc: ["body", "image"] });
      }
      return partNames[images++] ?? part;
    };
    const form = await readForm({
      async onFile(file) {
        const name = nameOf(file.name);
        return { name, taken: await onFile({ ...file, name }) };
      },
      signal,
    });
    if (form.kind === "not-multipart") return form;
    const entries = form.entries.map((entry) =>
      "file" in entry ? { ...entry, name: entry.file.name, file: entry.file.taken } : entry,
    );
    return { ...form, entries };
  };
}

async function bodyOf(read: FormReader, signal: AbortSignal): Promise<ImagesBody> {
  const form = await read({ onFile: async (file) => file, signal });
  if (form.kind === "not-multipart") {
    const given = form.ctx.given ?? "no content type";
    throw fault("value_error", `The body must be multipart/form-data, and is ${given}.`, { loc: ["body"] });
  }
  const fields: Record<string, unknown> = {};
  const images: (FormFile | string)[] = [];
  let mask: FormFile | string | undefined;
  for (const entry of form.entries) {
    const { name } = entry;
    const value = "file" in entry ? entry.file : entry.value;
    if (name === "mask") mask = value;
    else if ("file" in entry ? partNames.includes(name) : imagePart.test(name)) images.push(value);
    else if (typeof value === "string") fields[name] = value;
  }
  return { fields, images, mask };
}
