import mammoth from "mammoth";
import { DocumentError, type DocumentPage } from "./documents.ts";
import { readHtml } from "./read-html.ts";

export async function readDocx(bytes: Uint8Array): Promise<{ pages: DocumentPage[]; title: string | undefined }> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const options = {
    // Pictures are not text, and reading them takes memory.
    convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
    externalFileAccess: false,
    styleMap: ["p[style-name='Title'] => h1:fresh"],
  };
  const { value } = await mammoth.convertToHtml({ buffer }, options).catch(() => {
    throw new DocumentError("unreadable", "The Word document is damaged.");
  });
  const { pages } = readHtml(value, undefined);
  return { pages, title: undefined };
}
