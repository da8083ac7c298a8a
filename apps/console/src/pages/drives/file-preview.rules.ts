/** Longer text is cut in the preview. */
export const maxTextBytes = 200_000;
export const maxImageBytes = 10 * 1024 * 1024;

export type PreviewKind = "empty" | "image" | "text" | "none";

const images = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)\b/;
const neverText = /^(image|audio|video|font)\/|^application\/(zip|gzip|pdf|x-tar|wasm|vnd\.)/;

/** A generic type is tried as text; the bytes decide. */
export function previewKind(contentType: string, size: number): PreviewKind {
  if (size === 0) return "empty";
  if (images.test(contentType)) return size <= maxImageBytes ? "image" : "none";
  return neverText.test(contentType) ? "none" : "text";
}

/** Undefined if the bytes are not UTF-8. Drops an incomplete last character. */
export function textFrom(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

export const isMarkdown = (name: string, contentType: string): boolean =>
  /^text\/(x-)?markdown\b/.test(contentType) || /\.(md|markdown)$/i.test(name);

/** The extension, which the highlighter knows as a name of the language or does not know. */
export const languageOf = (name: string): string => /\.([a-z0-9]{1,12})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
