/**
 * Breaks one rule at a time in money, limits, confinement and claims, and runs the tests that must find it:
 * `npm run mutate -- [part of a name]`. Fails if a mutant survives or a mutation no longer applies to its file.
 * Two copies of the checkout are mutated in parallel, so the checkout itself never changes.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mutations } from "./mutations.mjs";
import { root, setUp } from "./set-up.mjs";

const copies = 2;
const longestMs = 600_000;

const wanted = process.argv[2] ?? "";
const chosen = mutations.filter(({ name }) => name.includes(wanted));
const broken = chosen.flatMap(faultsOf);
if (chosen.length === 0) broken.push(`No mutation has a name with “${wanted}”.`);
if (broken.length > 0) {
  console.error(broken.join("\n"));
  process.exit(1);
}

const node = setUp();
const folder = mkdtempSync(join(tmpdir(), "gantry-mutate-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const all = [...new Set(chosen.flatMap(({ tests }) => tests))];
const first = copyCheckout(0);
console.log(`${chosen.length} mutants. Running their ${all.length} test files without a mutation first.`);
const baseline = await runTests(first, all);
if (baseline !== "passed") {
  console.error(`The tests fail without a mutation: ${baseline}`);
  process.exit(1);
}

const queue = [...chosen];
const survivors = [];
await Promise.all([first, ...Array.from({ length: copies - 1 }, (_, n) => copyCheckout(n + 1))].map(work));
console.log(`\n${chosen.length - survivors.length} of ${chosen.length} mutants were found.`);
if (survivors.length > 0) console.error(`Survivors:\n${survivors.join("\n")}`);
process.exit(survivors.length > 0 ? 1 : 0);

function faultsOf({ name, file, find, tests }) {
  const count = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8").split(find).length - 1 : -1;
  return [
    ...(count === -1 ? [`${name}: ${file} does not exist.`] : []),
    ...(count === 0 ? [`${name}: ${file} does not contain “${find}”.`] : []),
    ...(count > 1 ? [`${name}: ${file} contains “${find}” ${count} times.`] : []),
    ...tests.filter((path) => !existsSync(join(root, path))).map((path) => `${name}: ${path} does not exist.`),
  ];
}

function copyCheckout(n) {
  const copy = join(folder, String(n));
  const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const path of tracked.split("\n").filter((path) => path && existsSync(join(root, path))))
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function work(copy) {
  for (let mutation = queue.shift(); mutation; mutation = queue.shift()) {
    const { name, file, find, replace, tests } = mutation;
    const path = join(copy, file);
    const original = readFileSync(path, "utf8");
    writeFileSync(
      path,
      original.replace(find, () => replace),
    );
    const startedAt = performance.now();
    const end = await runTests(copy, tests);
    writeFileSync(path, original);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    if (end === "passed") survivors.push(name);
    console.log(`${end === "passed" ? "SURVIVED" : "found   "} ${String(seconds).padStart(4)} s  ${name}`);
  }
}

/** A run without a single test, as after a syntax error in a mutant, is a fault of the table. */
function runTests(copy, tests) {
  const report = join(copy, "mutate-report.json");
  rmSync(report, { force: true });
  const args = ["run", "--bail=1", "--reporter=json", `--outputFile=${report}`, "--project=!proof*", ...tests];
  const { CI: _, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(node, [join(root, "node_modules", "vitest", "vitest.mjs"), ...args], {
      cwd: copy,
      stdio: "ignore",
      timeout: longestMs,
      env: { ...env, PATH: `${dirname(node)}:${env.PATH}` },
    });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) return resolve("passed");
      if (signal) return resolve("timed out");
      const result = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : { numTotalTests: 0 };
      if (result.numTotalTests === 0) return reject(new Error(`No test ran in ${copy}: ${tests.join(", ")}`));
      const failures = result.testResults.flatMap(({ assertionResults: tests, message }) => [
        message,
        ...tests.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
      ]);
      resolve(failures.filter(Boolean).join("\n") || "failed");
    });
  });
}
