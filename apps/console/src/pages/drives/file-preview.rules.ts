/** What is read of a text: more is to be downloaded. */
export const mostTextBytes = 200_000;
export const mostImageBytes = 10 * 1024 * 1024;

export type PreviewKind = "empty" | "image" | "text" | "none";

const images = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)\b/;
const neverText = /^(image|audio|video|font)\/|^application\/(zip|gzip|pdf|x-tar|wasm|vnd\.)/;

/** What to try. Of a type that says nothing the bytes tell whether it is a text. */
export function previewKind(contentType: string, size: number): PreviewKind {
  if (size === 0) return "empty";
  if (images.test(contentType)) return size <= mostImageBytes ? "image" : "none";
  return neverText.test(contentType) ? "none" : "text";
}

/** The bytes as text, undefined where they are none. The last character may be cut in the middle: it is left out. */
export function textFrom(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
