import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that start, kill and wait for whole servers: one of them begun last would be waited for alone. */
const long = [/\/test\/proof\//, /\/test\/process\//, /\/engines\/(database|queue|blobs)\//, /\/test\/front-door\//];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = long.findIndex((path) => path.test(moduleId));
      return at === -1 ? long.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    environment: "node",
    include: ["apps/**/*.test.ts", "packages/**/*.test.ts"],
    globalSetup: ["apps/server/test/support/global-setup.ts"],
    reporters: ["default", "./scripts/count-reporter.mjs"],
    pool: "forks",
    // Not more, though most tests wait most of the time: three proofs side by side starve a server until it is taken for dead.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // Real servers, kills and clocks on shared machines: a test that fails for want of time gets another try in CI. What
    // is broken fails every time.
    retry: process.env.CI === "true" ? 2 : 0,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 20_000,
  },
});
