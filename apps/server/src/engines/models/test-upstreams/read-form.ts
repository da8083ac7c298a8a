import { Busboy } from "@fastify/busboy";
import type { Seen } from "./scripted-server.ts";

export interface FormFile {
  field: string;
  filename: string;
  type: string;
  bytes: Buffer;
}

/** Reads a multipart body with an independent parser. */
export function readForm(seen: Seen): Promise<{ fields: Record<string, string>; files: FormFile[] }> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = {};
    const files: FormFile[] = [];
    const form = new Busboy({ headers: seen.headers as { "content-type": string } });
    form.on("field", (name, value) => {
      fields[name] = value;
    });
    form.on("file", (field, stream, filename, _encoding, type) => {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", () => files.push({ field, filename, type, bytes: Buffer.concat(pieces) }));
    });
    form.on("finish", () => resolve({ fields, files }));
    form.on("error", reject);
    form.end(seen.body);
  });
}
