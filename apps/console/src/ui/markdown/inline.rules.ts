const protocols = ["http:", "https:", "mailto:"];

/** Undefined for anything but an absolute web or e-mail address: scripts, data, and paths of this console. */
export function safeAddress(href: string): string | undefined {
  try {
    const { protocol, href: address } = new URL(decodeReferences(href));
    return protocols.includes(protocol) ? address : undefined;
  } catch {
    return undefined;
  }
}

/** Names that models use. Others stay as they are written. */
const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  deg: "°",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  times: "×",
  divide: "÷",
  plusmn: "±",
  le: "≤",
  ge: "≥",
  ne: "≠",
  asymp: "≈",
  infin: "∞",
  larr: "←",
  rarr: "→",
  uarr: "↑",
  darr: "↓",
  harr: "↔",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  sect: "§",
  para: "¶",
  check: "✓",
};

const reference = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z]\w{1,30}));/g;

/** Character references of HTML, which Markdown allows in text. */
export function decodeReferences(text: string): string {
  return text.replaceAll(reference, (written, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? written) : written;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}
