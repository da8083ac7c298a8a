/**
 * Usernames are the first segment of paths (`/{username}/expenses/`), so they must differ from first segments of
 * routes.
 */
export const usernamePattern = /^[a-z0-9][a-z0-9-]{1,38}$/;

/** First segments of routes, including reserved ones. */
export const firstSegments: readonly string[] = [
  "api",
  "v1",
  "v2",
  "console",
  "docs",
  "healthz",
  "readyz",
  "metrics",
  "mcp",
  "s3",
  "files",
  "assets",
  "static",
  "hooks",
  "oauth",
];

/** Plus the owners of the built-in models. */
export const reservedUsernames: readonly string[] = [...firstSegments, "gantry", "anthropic"];

export const modelNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** A slug follows the owner's username in paths. */
export const agentSlugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Without a slash, so an alias is never an endpoint id or an agent. */
export const aliasNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9._:-]{0,62}$/;

/** `owner/model`. */
export function isEndpointId(text: string): boolean {
  const [owner = "", model = "", ...more] = text.split("/");
  return usernamePattern.test(owner) && modelNamePattern.test(model) && more.length === 0;
}

/** Reads `agents/<creator>/<slug>`, the name of an agent where models are named. */
export function readAgentName(text: string): { creator: string; slug: string } | undefined {
  const [prefix, creator = "", slug = "", ...more] = text.split("/");
  const isName = prefix === "agents" && usernamePattern.test(creator) && agentSlugPattern.test(slug);
  return isName && more.length === 0 ? { creator, slug } : undefined;
}
