import { Fault, fault, type Loc } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { fetchFile } from "./fetch-file.ts";
import { issueOf } from "./form.ts";
import { planFile } from "./media.rules.ts";
import type { InputDeps } from "./read-input.ts";
import { isCheckedFile } from "./receive-file.ts";
import { Spool } from "./spool.ts";

export interface InlineImage {
  contentType: string;
  base64: string;
}

/** Reads an image by its http, https, `data:` or `s3://` address. `loc` is the field that contains the address. */
export type ReadImage = (address: string, loc: Loc) => Promise<InlineImage>;

/** Images are sent to text models inline, so all images of a request are held in memory. */
const mostInlineBytes = 32 * 1024 * 1024;
/** A request must not make the server fetch any number of addresses. */
const mostImages = 500;
/** Not decoded here: the model behind the chat does that. */
const field = { name: "image", file: planFile({ "x-media": "file", "x-formats": [".jpg", ".png", ".webp", ".gif"] }) };

export interface ImageRequest {
  caller: Caller;
  signal: AbortSignal;
  /** Reserves memory for an image, or throws. Admission comes later, so the limits of the plan do not apply yet. */
  takeMemory(bytes: number): void;
}

/** A reader for the images of one request. */
export function imageReader(
  { spoolDir, net, media, openStored }: InputDeps,
  { caller, signal, takeMemory }: ImageRequest,
): ReadImage {
  let bytesLeft = mostInlineBytes;
  let images = 0;
  return async (address, loc) => {
    images += 1;
    if (images > mostImages) throw tooMany(loc);
    const spool = new Spool(spoolDir);
    try {
      const fetching = {
        spool,
        net,
        media,
        userId: caller.userId,
        signal,
        hashes: false,
        openStored: async (s3Path: string) => {
          const file = await openStored(caller, s3Path, loc);
          return file && { stream: await file.open(), size: file.size, filename: file.filename };
        },
      };
      const plan = { ...field, file: { ...field.file, maxBytes: Math.max(bytesLeft, 0) } };
      const file = await fetchFile(fetching, plan, { address, sentAs: field.name });
      if (!isCheckedFile(file)) {
        if (file.type === "file_too_large") throw tooLarge(loc);
        throw new Fault([{ ...issueOf(field.name, file, undefined), loc }]);
      }
      bytesLeft -= file.size;
      if (bytesLeft < 0) throw tooLarge(loc);
      takeMemory(file.size);
      const chunks: Buffer[] = [];
      for await (const chunk of await file.open()) chunks.push(chunk as Buffer);
      return { contentType: file.contentType, base64: Buffer.concat(chunks).toString("base64") };
    } finally {
      await spool.dispose();
    }
  };
}

function tooMany(loc: Loc): Fault {
  const msg = `A request must not contain more than ${mostImages} images.`;
  return fault("sequence_too_long", msg, { loc, ctx: { max_length: mostImages } });
}

function tooLarge(loc: Loc): Fault {
  const msg = "The images of a request must not exceed 32 MB together.";
  return fault("file_too_large", msg, { loc, ctx: { max_size: mostInlineBytes } });
}
