import { main } from "./set-up.mjs";

/** Types, lint and format, import rules, unused code, the schema of the database: each fast, all must pass. */
await main((node) => [
  ["tsc", "-p", "."],
  ["tsc", "-p", "apps/console"],
  ["tsc", "-p", "packages/sdk/test/consumer"],
  ["tsc", "-p", "packages/sdk/test/consumer/tsconfig.default-lib.json"],
  ["biome", "ci", "--error-on-warnings", "."],
  [node, "scripts/check-imports.mjs"],
  ["knip"],
  ["vitest", "run", "--reporter=dot", "apps/server/test/schema.test.ts"],
]);
