import { execFile } from "node:child_process";
import { appendFile, cp, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));
const isSource = (path: string) => !/\/(node_modules|dist.*|test)$/.test(path);

/** A checkout of its own, with the packages of this one. */
let place: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "gantry-build-"));
  const needed = ["package.json", "package-lock.json", "tsconfig.json", "scripts", "apps/console", "packages"];
  for (const path of needed) {
    await cp(join(checkout, path), join(place, path), { recursive: true, filter: isSource });
  }
  await symlink(join(checkout, "node_modules"), join(place, "node_modules"));
});
afterEach(() => rm(place, { recursive: true, force: true }));

/** Runs a script of that checkout with the environment of tests, which is not that of a build. */
async function run(script: string): Promise<{ code: number; said: string }> {
  const env = { ...process.env, NODE_ENV: "test" };
  return promisify(execFile)(process.execPath, ["-e", script], { cwd: place, env }).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, said: stdout + stderr }),
  );
}
const build = () => run("import('./scripts/build.mjs')");
const inConsole = (path: string) => join(place, "apps", "console", path);
const script = async () => {
  const assets = await readdir(inConsole("dist/assets"));
  return readFile(inConsole(`dist/assets/${assets.find((name) => /^index-.*\.js$/.test(name))}`), "utf8");
};

test("it is built when its sources changed, for production, and at no other time", async () => {
  expect(await build()).toMatchObject({ code: 0, said: expect.stringContaining("Building the console") });
  expect(await readFile(inConsole("dist/index.html"), "utf8")).toMatch(/src="\/console\/assets\/index-[\w-]+\.js"/);
  // Words of React that only a build for development has.
  expect(await script()).not.toContain("Each child in a list should have a unique");
  expect(await build()).toEqual({ code: 0, said: "" });

  await writeFile(inConsole("src/new.test.ts"), "// A test is no source.");
  expect(await build()).toEqual({ code: 0, said: "" });
  await appendFile(join(place, "packages/wire/src/index.ts"), "// changed");
  expect((await build()).said).toContain("Building the console");
}, 60_000);

test("two at the same moment leave one whole console, and nothing beside it", async () => {
  await build();
  await appendFile(inConsole("src/styles.css"), "/* changed */");
  const both = await Promise.all([build(), build()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await build()).toEqual({ code: 0, said: "" });
  expect((await readdir(inConsole("."))).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
  expect(await script()).not.toBe("");
}, 60_000);

test("a source that cannot be built leaves the console that was there", async () => {
  await build();
  await appendFile(inConsole("src/main.tsx"), "this is no code");
  expect((await build()).code).toBe(1);
  expect((await readdir(inConsole("."))).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
}, 60_000);

test("where the packages for development are not installed, a start says so in one line and goes on", async () => {
  await unlink(join(place, "node_modules"));
  const steps = await run(
    "import('./scripts/console-build.mjs').then((one) => console.log(one.buildStepsWherePossible('node').length))",
  );
  expect(steps.said.trim().split("\n")).toEqual([
    "0",
    expect.stringMatching(
      /^The console in .* because the packages for development are not installed: see deploy\/README\.md\.$/,
    ),
  ]);
});

test("what is built stays where its sources are changed again meanwhile", async () => {
  const changes = `{ name: "changes", closeBundle: () => appendFileSync("apps/console/src/styles.css", "/* changed */") }`;
  const config = await readFile(inConsole("vite.config.ts"), "utf8");
  const changing = config.replace("plugins: [", `plugins: [${changes}, `);
  await writeFile(inConsole("vite.config.ts"), `import { appendFileSync } from "node:fs";\n${changing}`);
  for (let time = 0; time < 2; time++) {
    expect(await build()).toMatchObject({ code: 0, said: expect.stringContaining("Building the console") });
    expect(await readdir(inConsole("dist"))).toContain("index.html");
  }
}, 60_000);

test("a start goes on where the console cannot be built, and a build does not", async () => {
  await writeFile(inConsole("src/main.tsx"), "this is no program");
  const start = await run("import('./scripts/build-console.mjs')");
  expect(start.code).not.toBe(0);
  const steps = "import('./scripts/console-build.mjs').then((one) => one.buildStepsWherePossible('node'))";
  const told = await run(`${steps}.then((steps) => console.log(JSON.stringify(steps)))`);
  const [[, ...args]] = JSON.parse(told.said);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: place });
  expect(stdout + stderr).toContain("all else is served");
}, 60_000);
