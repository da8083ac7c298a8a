/** Usernames stand first in paths (`/{username}/expenses/`), so none may be the first segment of a route. */
export const usernamePattern = /^[a-z0-9][a-z0-9-]{1,38}$/;

/** The first segments of routes, those that may come among them. */
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

/** Beside them the owners of the built-in models. */
export const reservedUsernames: readonly string[] = [...firstSegments, "gantry", "anthropic"];

export const modelNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;
