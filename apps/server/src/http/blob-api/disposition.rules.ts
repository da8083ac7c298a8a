import { dispositionOf, parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";

/**
 * Every answer with user content gets no origin, scripts, forms or external resources. Styles and media are for the
 * viewers built into browsers.
 */
const policy = "sandbox; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";

/**
 * Headers that decide how a browser shows user content. The stored type is parsed again, because it may come from an
 * older version or another program.
 */
export function contentHeaders(storedType: string, filename: string): Record<string, string> {
  const contentType = parseMediaType(storedType) ?? unknownType;
  return {
    "content-type": contentType,
    "content-disposition": `${dispositionOf(contentType)}; ${fileNames(filename)}`,
    "content-security-policy": policy,
  };
}

/** RFC 6266: an ASCII name for old clients, and the real one. */
function fileNames(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return ascii === filename ? `filename="${ascii}"` : `filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
