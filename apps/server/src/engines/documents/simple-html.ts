/**
 * Elements whose content is not text for readers, with the pattern of their end. The lower case of the page is not searched,
 * because it may be longer than the page: "İ" becomes two characters.
 */
const skipped = new Map(
  "script,style,template,noscript,svg,iframe,object,head,title,select"
    .split(",")
    .map((name) => [name, new RegExp(`</${name}`, "gi")]),
);
const inline = new Set(
  "a,abbr,b,bdi,bdo,big,cite,code,data,del,dfn,em,font,i,ins,kbd,label,mark,q,s,samp,small,span,strong,sub,sup,time,tt,u,var,wbr,img".split(
    ",",
  ),
);
/** Elements that have no end tag, or whose end tag is often left out. */
const unclosed = new Set(
  "area,base,br,col,embed,hr,img,input,link,meta,source,track,wbr,p,li,dt,dd,tr,td,th,tbody,thead,tfoot,option".split(
    ",",
  ),
);

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
const entity = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi;

/** How much work a page is for a parser, in one pass. */
export function sizeOfPage(html: string): { tags: number; depth: number } {
  let tags = 0;
  let open = 0;
  let depth = 0;
  for (const { 1: slash, 2: name = "" } of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    tags++;
    if (unclosed.has(name.toLowerCase())) continue;
    open = slash === "/" ? Math.max(0, open - 1) : open + 1;
    depth = Math.max(depth, open);
  }
  return { tags, depth };
}

/**
 * The text of a page with its headings and list items, without a document tree: its time grows with the length alone. For
 * pages that are too large for the parser.
 */
export function simpleText(html: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    parts.push(html.slice(at, open === -1 ? undefined : open).replace(/\s+/g, " "));
    if (open === -1) break;
    if (html.startsWith("<!--", open)) {
      at = after(html.indexOf("-->", open + 4), 3);
      continue;
    }
    const name = /^<\/?([a-z][a-z0-9]*)/i.exec(html.slice(open, open + 20))?.[1]?.toLowerCase();
    if (name === undefined && !/^<[!?/]/.test(html.slice(open, open + 2))) {
      parts.push("<");
      at = open + 1;
      continue;
    }
    at = after(html.indexOf(">", open), 1);
    if (name === undefined || inline.has(name)) continue;
    const isOpening = html[open + 1] !== "/";
    const end = isOpening ? skipped.get(name) : undefined;
    if (end) at = endAfter(end, at);
    else
      parts.push(name === "br" || name === "td" || name === "th" ? breakOf(name) : isOpening ? startOf(name) : "\n\n");
  }
  const lines = parts.join("").replace(entity, decoded).split("\n");
  return lines
    .map((line) => line.trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

  function after(found: number, length: number): number {
    return found === -1 ? html.length : found + length;
  }
  function endAfter(end: RegExp, from: number): number {
    end.lastIndex = from;
    return end.exec(html)?.index ?? html.length;
  }
}

function startOf(name: string): string {
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) return `\n\n${"#".repeat(Number(level))} `;
  return name === "li" ? "\n- " : "\n\n";
}

function breakOf(name: string): string {
  return name === "br" ? "\n" : " ";
}

function decoded(text: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return named[name.toLowerCase()] ?? text;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\uFFFD";
}

export function simpleTitle(html: string): string | undefined {
  const start = html.search(/<title[\s>]/i);
  if (start === -1) return undefined;
  const text = html.slice(start, start + 2000).replace(/^[^>]*>/, "");
  const end = text.search(/<\/title/i);
  return end === -1 ? undefined : text.slice(0, end).replace(entity, decoded);
}
