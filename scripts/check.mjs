import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

const isBeforeTests = process.argv.includes("--before-tests");

/** Types, lint and format, import rules, language, unused code and the database schema, two at a time. All must pass. */
await main(
  (node) => [
    [node, "scripts/check-imports.mjs"],
    [node, "scripts/check-language.mjs"],
    ["knip"],
    ["tsc", "-p", "."],
    ["biome", "ci", "--error-on-warnings", "."],
    ["tsc", "-p", "apps/console"],
    ["tsc", "-p", "packages/sdk/test/consumer"],
    ["tsc", "-p", "packages/sdk/test/consumer/tsconfig.default-lib.json"],
    // `npm test` includes the schema test, and needs the console.
    ...(isBeforeTests ? buildSteps(node) : [["vitest", "run", "--reporter=dot", "apps/server/test/schema.test.ts"]]),
  ],
  2,
);
