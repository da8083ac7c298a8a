import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { clearEnvironment } from "./apps/server/test/support/clear-environment.ts";

// Workers and the processes that tests start inherit this environment.
clearEnvironment(process.env);

/** Kill processes, start clusters or engines, put the server under load, or wait for more than ten seconds by design. */
const proofs = ["apps/server/test/{proof,process}/**/*.test.ts", "{apps,packages}/**/*.proof.test.ts"];
/** Drive a browser against a whole server. */
const browserProofs = ["apps/console/test/**/*.test.ts"];
/** Call the whole server over HTTP. Some trust the certificate of a test server from then on. */
const frontDoor = ["apps/server/test/front-door/**/*.test.ts"];
/** Change or measure what a process has once: its memory, threads or trusted authorities. */
const isolated = [
  "apps/server/src/engines/blobs/*.test.ts",
  "apps/server/src/engines/models/{ark/images,builtin/painter,cog/cog,gantry/remote,openai/images,text/repeated-event}.test.ts",
  "apps/server/src/engines/net/extra-ca.test.ts",
  "apps/server/test/docs/pages.test.ts",
  "apps/server/test/front-door/operations/{extra-ca,thread-start-failures}.test.ts",
];
/** A worker that meets a file of another project ends and loses its modules, so each project's files stay together. */
const projectOrder = ["isolated", "front-door", "tests"];
/** Within a project these start first, in this order. */
const slow = [
  /\/(runs-crash-points|crash)\.test/,
  /\/(cluster|rekey)\.test/,
  /\/test\/proof\//,
  /\/test\/process\//,
  /\/engines\/(database|queue|schemas|sandbox|tools|media)\//,
  /\/(verify-ledger|core|guides|webhook-\w+|backup)[\w.]*\.test/,
];

/** A slow file that starts last would run alone. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const at = slow.findIndex((path) => path.test(moduleId));
      return projectOrder.indexOf(project.name) * 100 + (at === -1 ? slow.length : at);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const common = {
  environment: "node",
  pool: "forks",
  // Real servers, kills and clocks on shared machines: CI retries a test that fails for lack of time. A real fault fails
  // every time.
  retry: process.env.CI === "true" ? 2 : 0,
  // Only hanging tests should reach these limits, even on a busy machine.
  testTimeout: 60_000,
  hookTimeout: 90_000,
  expect: { poll: { timeout: 30_000 } },
} as const;

/**
 * More workers than cores, because tests often wait. Loading modules costs more than most tests, so workers keep them from
 * one file to the next (`isolate: false`): a test file must not depend on or change the state of a module.
 */
const parallel = { maxWorkers: 4, sequence: { groupOrder: 1 } } as const;

export default defineConfig({
  test: {
    globalSetup: ["apps/server/test/support/global-setup.ts"],
    reporters: ["default", "./scripts/count-reporter.mjs"],
    sequence: { sequencer: SlowestFirst },
    teardownTimeout: 20_000,
    // `npm run proof` runs the projects whose name begins with "proof", `npm test` the others.
    projects: [
      {
        test: {
          ...common,
          ...parallel,
          name: "isolated",
          include: isolated,
          exclude: [...configDefaults.exclude, ...proofs],
        },
      },
      {
        test: {
          ...common,
          ...parallel,
          name: "front-door",
          include: frontDoor,
          exclude: [...configDefaults.exclude, ...proofs, ...isolated],
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          ...parallel,
          name: "tests",
          include: ["{apps,packages}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...proofs, ...browserProofs, ...frontDoor, ...isolated],
          isolate: false,
        },
      },
      // Three of these at a time starve a server until its cluster considers it dead.
      { test: { ...common, name: "proof", include: proofs, maxWorkers: 2, sequence: { groupOrder: 2 } } },
      // A browser uses both cores of a small machine.
      {
        test: {
          ...common,
          name: "proof-browser",
          include: browserProofs,
          globalSetup: ["apps/console/test/support/global-setup.ts"],
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
