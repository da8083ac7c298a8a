import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They kill processes and start clusters. */
const proofs = ["apps/server/test/proof/**/*.test.ts", "apps/server/test/process/**/*.test.ts"];
/** They drive a browser, against a whole server. */
const browserProofs = ["apps/console/test/**/*.test.ts"];
/** Through the whole server over HTTP. */
const frontDoor = ["apps/server/test/front-door/**/*.test.ts"];
/** They change what a process has once: its clock, its threads, whom it trusts. */
const alone = ["clock-jumps", "extra-ca", "thread-start-failures"].map(
  (name) => `apps/server/test/front-door/operations/${name}.test.ts`,
);
/** In this order: those that take a minute or two, then by what a folder's tests take. */
const long = [
  /\/(runs-crash-points|crash)\.test/,
  /\/(cluster|rekey)\.test/,
  /\/test\/proof\//,
  /\/test\/process\//,
  /\/engines\/(database|queue|blobs)\//,
  /\/test\/front-door\//,
];

/** One of the long ones begun last would be waited for alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = long.findIndex((path) => path.test(moduleId));
      return at === -1 ? long.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

const common = {
  environment: "node",
  pool: "forks",
  // Real servers, kills and clocks on shared machines: a test that fails for want of time gets another try in CI. What
  // is broken fails every time.
  retry: process.env.CI === "true" ? 2 : 0,
  // Long enough for a busy machine: only what hangs gets there.
  testTimeout: 60_000,
  hookTimeout: 90_000,
  expect: { poll: { timeout: 30_000 } },
} as const;

export default defineConfig({
  test: {
    globalSetup: ["apps/server/test/support/global-setup.ts"],
    reporters: ["default", "./scripts/count-reporter.mjs"],
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 20_000,
    // `npm run proof` runs the projects whose name begins with "proof", `npm test` the others.
    projects: [
      // Most of these wait most of the time.
      {
        test: {
          ...common,
          name: "tests",
          include: ["apps/**/*.test.ts", "packages/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...proofs, ...browserProofs, ...frontDoor],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...common, name: "alone", include: alone, maxWorkers: 3, sequence: { groupOrder: 1 } } },
      // Loading the server takes longer than most of these tests: a worker keeps it from one file to the next.
      {
        test: {
          ...common,
          name: "front-door",
          include: frontDoor,
          exclude: [...configDefaults.exclude, ...alone],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      // Three of these side by side starve a server until its cluster considers it dead.
      { test: { ...common, name: "proof", include: proofs, maxWorkers: 2, sequence: { groupOrder: 3 } } },
      // A browser takes both cores of a small machine.
      {
        test: {
          ...common,
          name: "proof-browser",
          include: browserProofs,
          globalSetup: ["apps/console/test/support/global-setup.ts"],
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
