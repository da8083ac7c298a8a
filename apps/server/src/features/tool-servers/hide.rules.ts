import {
  descriptionMargin,
  longestDescription,
  type ServerTool,
  type ToolList,
  type ToolServerTarget,
} from "../../engines/tools/tools.ts";

/**
 * Shorter ones are found everywhere by chance: hiding them would hide half of every text. None is stored any more that has
 * fewer than eight characters; this is for those that were.
 */
const shortestHidden = 6;
/** What stands behind a scheme's word, or is a password, may be any word of a language. */
const shortestPart = 8;

/** What takes a credential, and what it is made of, out of what a server says. */
export interface Hiding {
  mask(text: string): string;
  /** Whether there is something to mask in a value, by the value's JSON: one look in place of one at each of its texts. */
  isIn(json: string): boolean;
}

export const nothingHidden: Hiding = { mask: (text) => text, isIn: () => false };

export function hiding(credential: string): Hiding {
  const secrets = [credential, ...partsOf(credential), ...pairOf(credential)]
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((secret) => [secret, inJson(secret)]);
  // One may be a part of another, which then would stand there without it.
  const longestFirst = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  const written = [...new Set(longestFirst.map(inJson))];
  const shortest = longestFirst.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  return {
    mask: (text) =>
      text.length < shortest
        ? text
        : longestFirst.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), text),
    isIn: (json) => written.some((secret) => json.includes(secret)),
  };
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** `Token abc…`: a server repeats what it looks at, which is not always the whole header. */
function partsOf(credential: string): string[] {
  const [, ...behind] = credential.split(/\s+/);
  return behind.filter(({ length }) => length >= shortestPart);
}

/** The name and the password of `Basic`, together and the password alone. */
function pairOf(credential: string): string[] {
  const [, encoded] = /^basic\s+([a-z0-9+/=_-]+)$/i.exec(credential) ?? [];
  if (encoded === undefined) return [];
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? [] : [pair, pair.slice(colon + 1)].filter(({ length }) => length >= shortestPart);
}

const tellingName = "Its name holds the credential, or a part of it";

/**
 * Tools without the credential, which a server may have put into anything that it says of them. A tool is called by its
 * name, so that one whose name holds it cannot be used.
 */
export function hideInTools(
  { tools, unusable, isCut }: ToolList,
  target: Pick<ToolServerTarget, "header">,
  hiding: Hiding,
): ToolList {
  const margin = descriptionMargin(target);
  const isClean = ({ name }: { name: string }) => hiding.mask(name) === name;
  const telling = tools.filter((tool) => !isClean(tool)).map(({ name }) => ({ name, reason: tellingName }));
  return {
    tools: tools.filter(isClean).map((tool) => hideInTool(tool, margin, hiding)),
    unusable: [...unusable, ...telling].map(({ name, reason }) => ({ name: hiding.mask(name), reason })),
    isCut,
  };
}

/** A schema may have many thousand texts: they are looked at one by one only where there is something to hide. */
function hideInTool(tool: ServerTool, margin: number, { mask, isIn }: Hiding): ServerTool {
  const description = hideInDescription(tool.description, margin, mask);
  const isTelling = isIn(JSON.stringify(tool.parameters));
  return { ...tool, description, parameters: isTelling ? hideInObject(tool.parameters, mask) : tool.parameters };
}

/** The end of one that was cut may be the beginning of the credential, which nobody would know it by. */
function hideInDescription(description: string, margin: number, mask: (text: string) => string): string {
  const wasCut = description.length === longestDescription + margin;
  const shown = mask(description);
  return shown.slice(0, Math.min(longestDescription, shown.length - (wasCut ? margin : 0))).toWellFormed();
}

/** The same object where nothing is hidden in it: what was made of it once can be used again. */
function hideInObject(object: Record<string, unknown>, mask: (text: string) => string): Record<string, unknown> {
  const entries = Object.entries(object);
  const shown = entries.map(([key, value]): [string, unknown] => [mask(key), hideInValue(value, mask)]);
  const isSame = shown.every(([key, value], at) => key === entries[at]?.[0] && value === entries[at]?.[1]);
  return isSame ? object : Object.fromEntries(shown);
}

function hideInValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) {
    const shown = value.map((one) => hideInValue(one, mask));
    return shown.every((one, at) => one === value[at]) ? value : shown;
  }
  return typeof value === "object" && value !== null ? hideInObject(value as Record<string, unknown>, mask) : value;
}
