/** Usernames stand first in paths (`/{username}/expenses/`), so none may be the first segment of a route. */
export const usernamePattern = /^[a-z0-9][a-z0-9-]{1,38}$/;

export const reservedUsernames: readonly string[] = [
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
  "gantry",
  "anthropic",
];

export const modelNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;
