import { Readable } from "node:stream";
import type { StoredOutput } from "../../features/predictions/index.ts";

/** One image of an answer: a link, or a file whose bytes become part of the answer. */
export interface AnsweredImage {
  link: string;
  contentType: string;
  revisedPrompt: string | undefined;
  open(): Promise<Readable>;
}

/** The text that the model made of the prompt, if it tells. */
export function revisedPromptOf({ revised_prompt: text }: StoredOutput): string | undefined {
  return typeof text === "string" ? text : undefined;
}

interface AnswerParts {
  images: readonly AnsweredImage[];
  isLink: boolean;
  createdAt: Date;
}

/** The body of an answer. Files are read while it is sent, so that memory does not grow with them. */
export function imagesAnswer({ images, isLink, createdAt }: AnswerParts): Record<string, unknown> | Readable {
  const created = Math.floor(createdAt.getTime() / 1000);
  const format = formatOf(images);
  const more = format === undefined ? {} : { output_format: format };
  if (isLink) return { created, data: images.map((image) => ({ url: image.link, ...promptOf(image) })), ...more };
  return Readable.from(piecesOf(images, { created, ...more }));
}

async function* piecesOf(images: readonly AnsweredImage[], more: Record<string, unknown>): AsyncGenerator<string> {
  yield '{"data":[';
  for (const [index, image] of images.entries()) {
    yield `${index === 0 ? "" : ","}{"b64_json":"`;
    yield* base64Of(await image.open());
    const rest = JSON.stringify(promptOf(image)).slice(1);
    yield rest === "}" ? '"}' : `",${rest}`;
  }
  yield `],${JSON.stringify(more).slice(1)}`;
}

/** Three bytes make four characters, so a rest waits for the next chunk. */
async function* base64Of(bytes: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    const whole = all.length - (all.length % 3);
    rest = all.subarray(whole);
    if (whole > 0) yield all.toString("base64", 0, whole);
  }
  if (rest.length > 0) yield rest.toString("base64");
}

function promptOf({ revisedPrompt }: AnsweredImage): { revised_prompt?: string } {
  return revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt };
}

const formats: ReadonlySet<string> = new Set(["png", "jpeg", "webp", "gif"]);

/** Undefined if the images differ, or if the protocol has no name for their type. */
function formatOf(images: readonly AnsweredImage[]): string | undefined {
  const [first, ...more] = new Set(images.map(({ contentType }) => contentType.replace(/^image\//, "")));
  return first !== undefined && more.length === 0 && formats.has(first) ? first : undefined;
}
