import { getDocumentProxy, getMeta } from "unpdf";
import { DocumentError, type DocumentPage } from "./documents.ts";

const mostPages = 5_000;

/** Page by page, so that only one is in memory. */
export async function readPdf(
  bytes: Uint8Array,
  mostChars: number,
): Promise<{ pages: DocumentPage[]; title: string | undefined; isCut: boolean }> {
  const pdf = await getDocumentProxy(bytes, { stopAtErrors: false, verbosity: 0 }).catch((error: unknown) => {
    const isLocked = error instanceof Error && error.name === "PasswordException";
    throw new DocumentError("unreadable", isLocked ? "The PDF is protected by a password." : "The PDF is damaged.");
  });
  const pages: DocumentPage[] = [];
  let chars = 0;
  let failed = 0;
  for (let number = 1; number <= Math.min(pdf.numPages, mostPages) && chars < mostChars; number++) {
    const text = await textOfPage(pdf, number).catch(() => undefined);
    if (text === undefined) failed++;
    pages.push({ page: number, text: text ?? "" });
    chars += text?.length ?? 0;
  }
  if (pages.length === 0 || failed === pages.length) throw new DocumentError("unreadable", "The PDF is damaged.");
  const title = await titleOf(pdf);
  return { pages, title, isCut: pdf.numPages > pages.length };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function textOfPage(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
  page.cleanup();
  return text;
}

async function titleOf(pdf: Pdf): Promise<string | undefined> {
  const meta = await getMeta(pdf).catch(() => undefined);
  const title: unknown = meta?.info.Title;
  return typeof title === "string" ? title : undefined;
}
