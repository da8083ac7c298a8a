/** Shown in the browser as they are; everything else could run as a page of ours and is downloaded instead. */
const shown = /^(image\/(?!svg)|audio\/|video\/|text\/plain$|application\/(pdf|json)$)/;

export function mayBeShown(contentType: string): boolean {
  return shown.test((contentType.split(";")[0] ?? "").trim().toLowerCase());
}

/** RFC 6266: an ASCII name for old clients, the real one beside it. */
export function contentDisposition(contentType: string, filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  const names = ascii === filename ? `filename="${ascii}"` : `filename="${ascii}"; filename*=UTF-8''${encoded}`;
  return `${mayBeShown(contentType) ? "inline" : "attachment"}; ${names}`;
}
