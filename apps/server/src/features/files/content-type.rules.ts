import { bareType, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";

/** The types that a name's ending stands for, where the bytes say nothing or only name the container. */
const byEnding: Readonly<Record<string, string>> = {
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

/** Formats whose bytes begin like those of a more general one: there a claim may say which it is. */
const refinements: Readonly<Record<string, RegExp>> = {
  "application/zip": /^application\/(vnd\.|epub\+zip|java-archive)/,
  "application/x-cfb": /^application\/(msword|vnd\.)/,
  "application/xml": /(\+|\/)xml$/,
};

/** What clients send when they were told no type. */
const saysNothing = new Set([
  unknownType,
  "binary/octet-stream",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
]);

export function typeByEnding(filename: string | undefined): string | undefined {
  const ending = /\.([a-z0-9]+)$/i.exec(filename ?? "")?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
}

/** The ending for a file that has a type and no name. */
export function endingOf(contentType: string): string {
  const bare = bareType(contentType);
  if (bare === "image/jpeg") return "jpg";
  return Object.keys(byEnding).find((ending) => byEnding[ending] === bare) ?? "bin";
}

/** Bytes first, then the claims in the order of their trust, then the name. */
export function fittingContentType(
  detected: string | undefined,
  { declared, filename }: { declared: readonly (string | undefined)[]; filename: string | undefined },
): string {
  const claims = [...declared, typeByEnding(filename)].flatMap((claim) => {
    const type = parseMediaType(claim ?? "");
    return type === undefined || saysNothing.has(bareType(type)) ? [] : [type];
  });
  const found = detected === undefined ? undefined : parseMediaType(detected);
  if (found === undefined) return claims[0] ?? unknownType;
  const refinement = refinements[found];
  return claims.find((claim) => refinement?.test(bareType(claim))) ?? found;
}
