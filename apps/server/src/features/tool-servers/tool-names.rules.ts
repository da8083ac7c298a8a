import { createHash } from "node:crypto";

/** A tool of one of an agent's servers. */
export interface ToolAddress {
  serverName: string;
  tool: string;
}

const longestName = 64;
const hashLength = 8;

/**
 * What the model calls the tools by: `<server name>__<tool>`, within the letters and the length that every model API
 * accepts. A name that is too long, or that two tools would share, ends in a hash of its own, so that it stays the same
 * whichever order the tools come in.
 */
export function nameTools<T extends ToolAddress>(
  tools: readonly T[],
  taken: ReadonlySet<string> = new Set(),
): Map<string, T> {
  const plain = tools.map(({ serverName, tool }) => safe(`${serverName}__${tool}`));
  const uses = new Map<string, number>();
  for (const name of plain) uses.set(name, (uses.get(name) ?? 0) + 1);
  const named = new Map<string, T>();
  for (const [at, tool] of tools.entries()) {
    const name = plain[at] ?? "";
    const clear = name.length <= longestName && uses.get(name) === 1 && !taken.has(name);
    const given = clear ? name : withHash(name, tool, (candidate) => named.has(candidate) || taken.has(candidate));
    named.set(given, tool);
  }
  return named;
}

/** Whether a tool of some server may go by this name. */
export function isServerToolName(name: string): boolean {
  return name.length <= longestName && /^[a-zA-Z0-9_-]{1,40}__[a-zA-Z0-9_-]+$/.test(name);
}

function safe(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

function withHash(name: string, { serverName, tool }: ToolAddress, isTaken: (candidate: string) => boolean): string {
  for (let round = 0; ; round++) {
    // No server's name holds a slash, so that no two tools have the same text here.
    const hash = createHash("sha256").update(`${round}/${serverName}/${tool}`).digest("hex").slice(0, hashLength);
    const candidate = `${name.slice(0, longestName - hashLength - 1)}_${hash}`;
    if (!isTaken(candidate)) return candidate;
  }
}
