/** By the byte order mark, the declared charset, UTF-8, or else Windows-1252, which gives every byte a character. */
export function decodeText(bytes: Uint8Array, type: string | undefined, isHtml = false): string {
  const declared =
    /charset\s*=\s*["']?([\w.:-]+)/i.exec(type ?? "")?.[1] ?? (isHtml ? charsetInHtml(bytes) : undefined);
  const label = labelOfMark(bytes) ?? declared;
  for (const candidate of [label, "utf-8"]) {
    const text = candidate && decode(bytes, candidate);
    if (text !== undefined && text !== "") return text;
  }
  return bytes.length === 0 ? "" : new TextDecoder("windows-1252").decode(bytes);
}

function decode(bytes: Uint8Array, label: string): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    // An unknown label, or bytes of another charset.
    return undefined;
  }
}

function labelOfMark([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function charsetInHtml(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString("latin1");
  return /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1];
}
