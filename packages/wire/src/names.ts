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
];

/** Plus the owners of the built-in models. */
export const reservedUsernames: readonly string[] = [...firstSegments, "gantry", "anthropic"];

export const modelNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;
