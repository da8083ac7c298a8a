/**
 * A value of an input field. Lists and objects are sent as JSON, bytes as a file, an address as its text. Null and
 * undefined are left out, which means the field's default.
 */
export type InputField = string | number | boolean | null | undefined | Blob | ArrayBuffer | URL | Date | object;

export type Input = Readonly<Record<string, InputField>>;

/**
 * A form as one Blob, which can be sent again and whose files are read only as they are sent. It is not FormData because
 * that writes every line break of a text as CRLF, and a prompt has to arrive as it was given.
 */
export function formOf(input: Input): Blob {
  const boundary = `gantry-${randomText()}`;
  const parts: (string | Blob)[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`);
    const part = partOf(value);
    if (typeof part === "string") parts.push("\r\n\r\n", part.toWellFormed());
    else {
      const filename = part instanceof File ? part.name : name;
      const type = part.type === "" ? "application/octet-stream" : part.type;
      parts.push(`; filename="${escaped(filename)}"\r\nContent-Type: ${type}\r\n\r\n`, part);
    }
    parts.push("\r\n");
  }
  parts.push(`--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

function partOf(value: NonNullable<InputField>): string | Blob {
  if (typeof value !== "object") return String(value);
  if (value instanceof Blob) return value;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return new Blob([value as Uint8Array<ArrayBuffer>]);
  if (value instanceof URL) return value.href;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}

/** As browsers do it. */
function escaped(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22").toWellFormed();
}

/** 128 random bits. Not randomUUID, which browsers have on https alone. */
export function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
