import { dispositionOf, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";

/**
 * For every answer that carries content of users: no origin, no scripts, no forms, nothing loaded from elsewhere. The
 * styles and the media source are those of the browser's own viewers.
 */
const policy = "sandbox; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";

/**
 * What says how content of users is shown. The stored type is parsed again: types that were stored before the parser
 * existed, or by another program, are not trusted.
 */
export function contentHeaders(storedType: string, filename: string): Record<string, string> {
  const contentType = parseMediaType(storedType) ?? unknownType;
  return {
    "content-type": contentType,
    "content-disposition": `${dispositionOf(contentType)}; ${fileNames(filename)}`,
    "content-security-policy": policy,
  };
}

/** RFC 6266: an ASCII name for old clients, the real one beside it. */
function fileNames(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return ascii === filename ? `filename="${ascii}"` : `filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
