import { bareType, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";

/** By file extension, for content that is not recognised or only as a container. */
const byExtension: Readonly<Record<string, string>> = {
  aac: "audio/aac",
  avif: "image/avif",
  bin: "application/octet-stream",
  css: "text/css",
  csv: "text/csv",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  epub: "application/epub+zip",
  flac: "audio/flac",
  gif: "image/gif",
  glb: "model/gltf-binary",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  jsonl: "application/x-ndjson",
  md: "text/markdown",
  mjs: "text/javascript",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tsv: "text/tab-separated-values",
  txt: "text/plain",
  wasm: "application/wasm",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

/** Container formats, and the declared types that may refine them. */
const refinements: Readonly<Record<string, RegExp>> = {
  "application/zip": /^application\/(vnd\.|epub\+zip|java-archive)/,
  "application/x-cfb": /^application\/(msword|vnd\.)/,
  "application/xml": /(\+|\/)xml$/,
};

/** Defaults of HTTP clients. */
const uninformative = new Set([
  unknownType,
  "binary/octet-stream",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
]);

export function typeByExtension(filename: string | undefined): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(filename ?? "")?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

export function extensionOf(contentType: string): string {
  const bare = bareType(contentType);
  if (bare === "image/jpeg") return "jpg";
  return Object.keys(byExtension).find((extension) => byExtension[extension] === bare) ?? "bin";
}

/** The detected type, then the declared types in order, then the file extension. */
export function fittingContentType(
  detected: string | undefined,
  { declared, filename }: { declared: readonly (string | undefined)[]; filename: string | undefined },
): string {
  const claims = [...declared, typeByExtension(filename)].flatMap((claim) => {
    const type = parseMediaType(claim ?? "");
    return type === undefined || uninformative.has(bareType(type)) ? [] : [type];
  });
  const found = detected === undefined ? undefined : parseMediaType(detected);
  if (found === undefined) return claims[0] ?? unknownType;
  const refinement = refinements[found];
  return claims.find((claim) => refinement?.test(bareType(claim))) ?? found;
}
