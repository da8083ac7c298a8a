/** Ends a test run with one line of counts. In CI a skipped test fails the run. */
export default class CountReporter {
  onInit({ config }) {
    // `-t` skips tests on purpose.
    this.mayNotSkip = !["", "0", "false"].includes(process.env.CI ?? "") && config.testNamePattern === undefined;
  }

  onTestRunEnd(modules) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const skipped = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed" || state === "failed") counts[state] += 1;
        else {
          counts.skipped += 1;
          skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
        }
      }
      // A file that does not load has no tests and counts as a failure.
      if (module.errors().length > 0) counts.failed += 1;
    }
    if (this.mayNotSkip && skipped.length > 0) {
      console.error(`\nSkipped tests are failures in CI:\n  ${skipped.join("\n  ")}`);
      process.exitCode = 1;
    }
    console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
