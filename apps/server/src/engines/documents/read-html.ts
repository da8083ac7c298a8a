import { parseHTML } from "linkedom";
import TurndownService from "turndown";
import { DocumentError, type DocumentPage } from "./documents.ts";
import { inOneLine } from "./in-one-line.ts";
import { readablePage } from "./readable.ts";
import { simpleText, simpleTitle, sizeOfPage } from "./simple-html.ts";

// The types of these libraries name the elements of a browser, which the server does not have.
interface Attributes {
  getAttribute(name: string): string | null;
  removeAttribute(name: string): void;
}

/** Parsing takes much memory. */
const mostChars = 10_000_000;

const markdown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
markdown.remove(["script", "style", "noscript", "template", "iframe", "object", "svg", "canvas"] as never[]);
markdown.addRule("images", {
  filter: "img",
  replacement: (_text, node) => (node as unknown as Attributes).getAttribute("alt")?.trim() ?? "",
});
markdown.addRule("tables", {
  filter: ["th", "td"],
  replacement: (text) => ` ${inOneLine(text)} |`,
});
markdown.addRule("rows", { filter: "tr", replacement: (text) => `|${text}\n` });

/** Larger pages would keep the parser busy for too long. */
const mostTags = 20_000;
const mostDepth = 500;

/** With an address, keeps the main content of the page if it stands out, and makes links absolute. */
export function readHtml(html: string, url: string | undefined): { pages: DocumentPage[]; title: string | undefined } {
  if (html.length > mostChars) {
    throw new DocumentError("unreadable", `HTML of more than ${mostChars / 1_000_000} million characters is not read.`);
  }
  const { tags, depth } = sizeOfPage(html);
  if (tags > mostTags || depth > mostDepth) return { pages: [{ text: simpleText(html) }], title: simpleTitle(html) };
  if (url !== undefined) {
    const { title, text } = readablePage(html, url);
    return { pages: [{ text }], title };
  }
  // Without these elements the parser does not find the body.
  const isWhole = /<html[\s>]/i.test(html);
  const { document } = parseHTML(isWhole ? html : `<!doctype html><html><head></head><body>${html}</body></html>`);
  const title = document.querySelector("title")?.textContent?.trim() || undefined;
  for (const link of document.querySelectorAll("a[href]")) dropOwnLink(link as unknown as Attributes);
  return { pages: [{ text: toMarkdown(document.body?.innerHTML ?? "") }], title };
}

function toMarkdown(html: string): string {
  const { document } = parseHTML(`<!doctype html><html><head></head><body>${html}</body></html>`);
  return markdown.turndown(document.body as never).replace(/\n{3,}/g, "\n\n");
}

/** Scripts and places in the page lead nowhere from the text. */
function dropOwnLink(link: Attributes): void {
  if (!/^https?:/i.test(link.getAttribute("href") ?? "")) link.removeAttribute("href");
}
