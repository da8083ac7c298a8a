import {
  descriptionMargin,
  longestDescription,
  type ServerTool,
  type ToolList,
  type ToolServerTarget,
} from "../../engines/tools/tools.ts";

/** Shorter secrets appear in text by chance. New credentials have eight characters or more; older ones may be shorter. */
const shortestHidden = 6;
/** The part after a scheme name, or a password, may be an ordinary word. */
const shortestPart = 8;

/** Masks a credential and its parts in text from a server. */
export interface Hiding {
  mask(text: string): string;
  /** Whether the JSON of a value contains a secret: one search instead of one for each string. */
  isIn(json: string): boolean;
}

export const nothingHidden: Hiding = { mask: (text) => text, isIn: () => false };

export function hiding(credential: string): Hiding {
  const secrets = [credential, ...partsOf(credential), ...pairOf(credential)]
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((secret) => [secret, inJson(secret)]);
  // A secret may contain another one.
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

/** `Token abc…`: a server may repeat only a part of the header. */
function partsOf(credential: string): string[] {
  const [, ...behind] = credential.split(/\s+/);
  return behind.filter(({ length }) => length >= shortestPart);
}

/** Of `Basic`: name and password together, and the password alone. */
function pairOf(credential: string): string[] {
  const [, encoded] = /^basic\s+([a-z0-9+/=_-]+)$/i.exec(credential) ?? [];
  if (encoded === undefined) return [];
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? [] : [pair, pair.slice(colon + 1)].filter(({ length }) => length >= shortestPart);
}

const nameHasCredential = "The name of the tool contains the credential or a part of it";

/** Masks the credential in tools. A tool whose name contains the credential cannot be used. */
export function hideInTools(
  { tools, unusable, isCut }: ToolList,
  target: Pick<ToolServerTarget, "header">,
  hiding: Hiding,
): ToolList {
  const margin = descriptionMargin(target);
  const isClean = ({ name }: { name: string }) => hiding.mask(name) === name;
  const leaking = tools.filter((tool) => !isClean(tool)).map(({ name }) => ({ name, reason: nameHasCredential }));
  return {
    tools: tools.filter(isClean).map((tool) => hideInTool(tool, margin, hiding)),
    unusable: [...unusable, ...leaking].map(({ name, reason }) => ({ name: hiding.mask(name), reason })),
    isCut,
  };
}

function hideInTool(tool: ServerTool, margin: number, { mask, isIn }: Hiding): ServerTool {
  const description = hideInDescription(tool.description, margin, mask);
  const isLeaking = isIn(JSON.stringify(tool.parameters));
  return { ...tool, description, parameters: isLeaking ? hideInObject(tool.parameters, mask) : tool.parameters };
}

/** A truncated description may end in the beginning of the credential, so its last characters are dropped. */
function hideInDescription(description: string, margin: number, mask: (text: string) => string): string {
  const wasCut = description.length === longestDescription + margin;
  const shown = mask(description);
  return shown.slice(0, Math.min(longestDescription, shown.length - (wasCut ? margin : 0))).toWellFormed();
}

/** Returns the same object if nothing is masked, so that validators cached by object stay valid. */
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
