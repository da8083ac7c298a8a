const shape = /^data:([^,]*),(.*)$/is;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The bytes of a `data:` URI, undefined where it is none. The declared type is not looked at. */
export function bytesOfDataUri(text: string): Uint8Array | undefined {
  const [, head, data] = shape.exec(text) ?? [];
  if (head === undefined || data === undefined) return undefined;
  if (!/;\s*base64\s*$/i.test(head)) return percentDecoded(data);
  const digits = (data.includes("%") ? percentDecoded(data)?.toString("latin1") : data)?.replace(/\s+/g, "");
  if (digits === undefined || !base64.test(digits) || digits.replace(/=+$/, "").length % 4 === 1) return undefined;
  return Buffer.from(digits, "base64");
}

/** Into bytes: what is escaped need not be UTF-8. */
function percentDecoded(text: string): Buffer | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === 0x25;
    bytes[length++] = isEscape ? Number.parseInt(bytes.toString("latin1", at + 1, at + 3), 16) : (bytes[at] ?? 0);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}
