import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    include: ["apps/**/*.test.ts", "packages/**/*.test.ts"],
    globalSetup: ["apps/server/test/support/global-setup.ts"],
    reporters: ["default", "./scripts/count-reporter.mjs"],
    pool: "forks",
    maxWorkers: 2,
    // Real servers, kills and clocks on shared machines: a test that fails for want of time gets another try in CI. What
    // is broken fails every time.
    retry: process.env.CI === "true" ? 2 : 0,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 20_000,
  },
});
