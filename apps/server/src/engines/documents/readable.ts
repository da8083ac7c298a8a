import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";
import { inOneLine } from "./in-one-line.ts";

// The types of these libraries name the elements of a browser, which the server does not have.
interface PageNode {
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly parentNode: unknown;
  readonly childNodes: Iterable<PageNode>;
}
interface PageElement extends PageNode {
  readonly localName: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): PageElement | null;
  replaceWith(node: unknown): void;
  remove(): void;
}
interface Page extends PageElement {
  readonly body: PageElement | null;
  readonly documentElement: PageElement;
  querySelectorAll(selector: string): Iterable<PageElement>;
  createTextNode(text: string): unknown;
}

/** A shorter article is probably a teaser, so the whole page is shown. */
const leastArticle = 250;

/** Neither text nor links: programs, drawings, frames and form controls. */
const dropped =
  "script,style,noscript,template,iframe,frame,object,embed,svg,canvas,audio,video,link,meta,button,input,select,textarea,dialog,[hidden],[aria-hidden=true]";
const invisible =
  /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(\.0*)?\s*(;|!|$)|font-size\s*:\s*0[^.\d]/i;

/** The main text of a web page as Markdown: the article where there is one, otherwise the whole page. */
export function readablePage(html: string, url: string): { title: string | undefined; text: string } {
  const { document, body, title } = openPage(html, url);
  const article = articleOf(document);
  if (article) return { title: article.title?.trim() || title, text: markdownOf(article.content) };
  // Readability changes the document.
  return { title, text: markdownOf(article === null ? openPage(html, url).body : body) };
}

interface OpenPage {
  document: Page;
  body: PageElement;
  title: string | undefined;
}

function openPage(html: string, url: string): OpenPage {
  // Without a root element the library takes the first element for it.
  const whole = /<html[\s>]/i.test(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`;
  const document = parseHTML(whole).document as unknown as Page;
  const base = URL.parse(document.querySelector("base")?.getAttribute("href") ?? "", url)?.href ?? url;
  for (const element of document.querySelectorAll(dropped)) if (element.localName !== "html") element.remove();
  for (const element of document.querySelectorAll("[style]")) {
    if (invisible.test(`${element.getAttribute("style")};`) && element.localName !== "body") element.remove();
  }
  for (const image of document.querySelectorAll("img,picture")) replaceImage(document, image);
  for (const link of document.querySelectorAll("a[href]")) setAbsolute(link, base);
  const title = document.querySelector("title")?.textContent?.trim();
  for (const misplaced of document.querySelectorAll("body title")) misplaced.remove();
  return { document, body: document.body ?? document.documentElement, title };
}

function replaceImage(document: Page, image: PageElement): void {
  const alt = (image.getAttribute("alt") ?? image.querySelector("img")?.getAttribute("alt") ?? "").trim();
  if (image.parentNode) image.replaceWith(document.createTextNode(alt === "" ? "" : `[image: ${alt}]`));
}

function setAbsolute(link: PageElement, base: string): void {
  const address = URL.parse(link.getAttribute("href") ?? "", base);
  if (address && /^(https?|mailto):$/.test(address.protocol)) link.setAttribute("href", address.href);
  else link.removeAttribute("href");
}

/** Undefined if the page does not look like an article; null if it was changed without finding one. */
function articleOf(document: Page): { title: string | null | undefined; content: PageNode } | undefined | null {
  if (!isProbablyReaderable(document as never)) return undefined;
  try {
    const reader = new Readability<PageNode>(document as never, { serializer: (node) => node as unknown as PageNode });
    const found = reader.parse();
    const isWhole = found?.content && (found.textContent ?? "").trim().length >= leastArticle;
    return isWhole && found.content ? { title: found.title, content: found.content } : null;
  } catch {
    // Nested deeper than the stack of this thread.
    return null;
  }
}

function markdownOf(content: PageNode): string {
  try {
    return tidy(converter().turndown(content as never));
  } catch (error) {
    // Nested deeper than the stack of this thread.
    if (!(error instanceof RangeError)) throw error;
    return tidy(content.textContent ?? "");
  }
}

function converter(): TurndownService {
  const service = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    hr: "---",
  });
  service.addRule("cell", {
    filter: ["th", "td"],
    replacement: (text) => ` ${inOneLine(text).replaceAll("|", "\\|")} |`,
  });
  service.addRule("row", {
    filter: "tr",
    replacement(text, row) {
      if (text.trim() === "") return "";
      const cells = [...(row as unknown as PageNode).childNodes].filter(
        ({ nodeName }) => nodeName === "TH" || nodeName === "TD",
      );
      const isHeading = cells.length > 0 && cells.every(({ nodeName }) => nodeName === "TH");
      return `\n|${text.trimEnd()}${isHeading ? `\n|${" --- |".repeat(cells.length)}` : ""}`;
    },
  });
  service.addRule("table", { filter: "table", replacement: (text) => `\n\n${text.trim()}\n\n` });
  service.addRule("emptyLink", {
    filter: (node) => isEmptyLink(node as unknown as PageNode),
    replacement: () => "",
  });
  return service;
}

function isEmptyLink({ nodeName, textContent }: PageNode): boolean {
  return nodeName === "A" && (textContent ?? "").trim() === "";
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
