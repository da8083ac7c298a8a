import { decodeText } from "./decode-text.ts";
import { DocumentError, type DocumentName, type DocumentPage, type ReadDocument } from "./documents.ts";
import { formatOf } from "./format.rules.ts";

/** Characters of all pages. */
const mostChars = 6_000_000;

/** Libraries are loaded when the first document needs them. */
export async function readDocument(bytes: Uint8Array, named: DocumentName): Promise<ReadDocument> {
  const format = formatOf(bytes, named);
  switch (format) {
    case "pdf": {
      const { readPdf } = await import("./read-pdf.ts");
      return bounded({ format, ...(await readPdf(bytes, mostChars)) });
    }
    case "docx": {
      const { readDocx } = await import("./read-docx.ts");
      return bounded({ format, ...(await readDocx(bytes)), isCut: false });
    }
    case "html": {
      const { readHtml } = await import("./read-html.ts");
      return bounded({ format, ...readHtml(decodeText(bytes, named.type, true), named.url), isCut: false });
    }
    case "text":
    case "markdown":
      return bounded({ format, pages: [{ text: decodeText(bytes, named.type) }], isCut: false });
    default:
      throw new DocumentError("unsupported", format.reason);
  }
}

/** Clean text, cut after the bound. */
function bounded({ title, ...document }: Omit<ReadDocument, "title"> & { title?: string | undefined }): ReadDocument {
  const pages: DocumentPage[] = [];
  let left = mostChars;
  let { isCut } = document;
  for (const page of document.pages) {
    const text = page.text.replaceAll("\0", "").replace(/\r\n?/g, "\n").toWellFormed();
    if (text.length > left) isCut = true;
    // A pair of surrogates that the cut divides becomes one replacement character.
    pages.push({ ...page, text: text.length > left ? text.slice(0, left).toWellFormed() : text });
    left -= text.length;
    if (left <= 0) break;
  }
  if (document.pages.length > pages.length) isCut = true;
  const name = title?.replaceAll("\0", "").replace(/\s+/g, " ").trim().slice(0, 300).toWellFormed();
  return { ...document, pages, isCut, ...(name && { title: name }) };
}
