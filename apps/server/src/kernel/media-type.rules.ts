/** Served if the type is unknown: browsers only download it. */
export const unknownType = "application/octet-stream";

export const longestMediaType = 127;
/** RFC 6838 names. No commas or quotes in parameters: browsers would read a list and use its last type. */
const form = /^([a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*)[ \t]*(;[\t\x20-\x7e]*)?$/;
const charset = /;[ \t]*charset=([a-z0-9][a-z0-9._:+-]{0,39})[ \t]*(?:;|$)/;

/**
 * A media type as it is stored and served: lower case and without parameters, except `charset` of a text type.
 * Undefined for anything else, including a list of types. Every external type goes through this function.
 */
export function parseMediaType(given: string): string | undefined {
  const text = given.trim().toLowerCase();
  if (text.length > longestMediaType || /["',\\]/.test(text)) return undefined;
  const [, bare, parameters = ""] = form.exec(text) ?? [];
  if (bare === undefined) return undefined;
  const encoding = bare.startsWith("text/") ? charset.exec(parameters)?.[1] : undefined;
  return encoding === undefined ? bare : `${bare}; charset=${encoding}`;
}

export const notMediaType = "Value should be one media type such as image/png, without commas or quotes";

/** Without `charset`. Only for types that `parseMediaType` has returned. */
export function bareType(mediaType: string): string {
  return mediaType.split(";", 1)[0] ?? "";
}

/** Formats that browsers show without running anything in them. XML, SVG and HTML can carry scripts. */
const passive = new Set([
  "application/json",
  "application/pdf",
  "audio/aac",
  "audio/flac",
  "audio/mp4",
  "audio/mpeg",
  "audio/ogg",
  "audio/wav",
  "audio/webm",
  "audio/x-m4a",
  "image/avif",
  "image/gif",
  "image/jpeg",
  "image/png",
  "image/webp",
  "text/plain",
  "video/mp4",
  "video/ogg",
  "video/quicktime",
  "video/webm",
]);

/** `attachment` for every type that is not known to be passive. */
export function dispositionOf(mediaType: string): "inline" | "attachment" {
  return passive.has(bareType(mediaType)) ? "inline" : "attachment";
}
