import { createHash } from "node:crypto";

export interface ToolAddress {
  serverName: string;
  tool: string;
}

const longestName = 64;
const hashLength = 8;

/**
 * The names that the model uses: `<server name>__<tool>`, within the characters and the length that every model API
 * accepts. A long or ambiguous name ends in a hash, so the name does not depend on the order of the tools.
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

/** Whether a tool of a server can have this name. */
export function isServerToolName(name: string): boolean {
  return name.length <= longestName && /^[a-zA-Z0-9_-]{1,40}__[a-zA-Z0-9_-]+$/.test(name);
}

function safe(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

function withHash(name: string, { serverName, tool }: ToolAddress, isTaken: (candidate: string) => boolean): string {
  for (let round = 0; ; round++) {
    // Server names contain no slash, so this text is unique.
    const hash = createHash("sha256").update(`${round}/${serverName}/${tool}`).digest("hex").slice(0, hashLength);
    const candidate = `${name.slice(0, longestName - hashLength - 1)}_${hash}`;
    if (!isTaken(candidate)) return candidate;
  }
}
