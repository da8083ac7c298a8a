import { execFile } from "node:child_process";
import { appendFile, cp, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));
const isSource = (path: string) => !/\/(node_modules|dist.*|test)$/.test(path);

/** A copy of the checkout that shares the installed packages. */
let copy: string;

beforeEach(async () => {
  copy = await mkdtemp(join(tmpdir(), "gantry-build-"));
  const needed = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "scripts",
    "apps/console",
    "docs",
    "examples/agents",
    "packages",
  ];
  for (const path of needed) {
    await cp(join(checkout, path), join(copy, path), { recursive: true, filter: isSource });
  }
  await symlink(join(checkout, "node_modules"), join(copy, "node_modules"));
});
afterEach(() => rm(copy, { recursive: true, force: true }));

/** Runs a script in the copy. NODE_ENV must not leak into the build. */
async function run(script: string): Promise<{ code: number; output: string }> {
  const env = { ...process.env, NODE_ENV: "test" };
  return promisify(execFile)(process.execPath, ["-e", script], { cwd: copy, env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );
}
const build = () => run("import('./scripts/build.mjs')");
const inConsole = (path: string) => join(copy, "apps", "console", path);
const script = async () => {
  const assets = await readdir(inConsole("dist/assets"));
  return readFile(inConsole(`dist/assets/${assets.find((name) => /^index-.*\.js$/.test(name))}`), "utf8");
};

/** Of all scripts that the page itself asks for, compressed. Charts, Markdown and pages are loaded when needed. */
async function initialScriptBytes(): Promise<number> {
  const html = await readFile(inConsole("dist/index.html"), "utf8");
  const names = new Set(Array.from(html.matchAll(/\/console\/(assets\/[\w.-]+\.js)"/g), ([, name = ""]) => name));
  const scripts = await Promise.all([...names].map((name) => readFile(inConsole(`dist/${name}`))));
  expect(scripts.length).toBeGreaterThan(0);
  return scripts.reduce((sum, bytes) => sum + brotliCompressSync(bytes).length, 0);
}

test("the console is built for production only when its sources change", async () => {
  expect(await build()).toMatchObject({ code: 0, output: expect.stringContaining("Building the console") });
  expect(await readFile(inConsole("dist/index.html"), "utf8")).toMatch(/src="\/console\/assets\/index-[\w-]+\.js"/);
  // A text that only development builds of React contain.
  expect(await script()).not.toContain("Each child in a list should have a unique");
  expect(await initialScriptBytes()).toBeLessThan(180_000);
  expect(await build()).toEqual({ code: 0, output: "" });

  await writeFile(inConsole("src/new.test.ts"), "// Tests are not sources.");
  expect(await build()).toEqual({ code: 0, output: "" });
  await appendFile(join(copy, "packages/wire/src/index.ts"), "// changed");
  expect((await build()).output).toContain("Building the console");
}, 60_000);

test("concurrent builds leave one complete console", async () => {
  await build();
  await appendFile(inConsole("src/styles.css"), "/* changed */");
  const both = await Promise.all([build(), build()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await build()).toEqual({ code: 0, output: "" });
  expect((await readdir(inConsole("."))).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
  expect(await script()).not.toBe("");
}, 60_000);

test("a failed build keeps the previous console", async () => {
  await build();
  await appendFile(inConsole("src/main.tsx"), "not valid code");
  expect((await build()).code).toBe(1);
  expect((await readdir(inConsole("."))).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
}, 60_000);

test("without development packages the server starts and reports it in one line", async () => {
  await unlink(join(copy, "node_modules"));
  const steps = await run(
    "import('./scripts/console-build.mjs').then((scripts) => console.log(scripts.buildStepsWherePossible('node').length))",
  );
  expect(steps.output.trim().split("\n")).toEqual([
    "0",
    expect.stringMatching(
      /^The console in .* because development packages are not installed\. See deploy\/README\.md\.$/,
    ),
  ]);
});

test("a build is kept if sources change while it runs", async () => {
  const changes = `{ name: "changes", closeBundle: () => appendFileSync("apps/console/src/styles.css", "/* changed */") }`;
  const config = await readFile(inConsole("vite.config.ts"), "utf8");
  const changing = config.replace("plugins: [", `plugins: [${changes}, `);
  await writeFile(inConsole("vite.config.ts"), `import { appendFileSync } from "node:fs";\n${changing}`);
  for (let time = 0; time < 2; time++) {
    expect(await build()).toMatchObject({ code: 0, output: expect.stringContaining("Building the console") });
    expect(await readdir(inConsole("dist"))).toContain("index.html");
  }
}, 60_000);

test("the server starts without a console that cannot be built", async () => {
  await writeFile(inConsole("src/main.tsx"), "not valid code");
  const start = await run("import('./scripts/build-console.mjs')");
  expect(start.code).not.toBe(0);
  const steps = "import('./scripts/console-build.mjs').then((scripts) => scripts.buildStepsWherePossible('node'))";
  const printed = await run(`${steps}.then((steps) => console.log(JSON.stringify(steps)))`);
  const [[, ...args]] = JSON.parse(printed.output);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: copy });
  expect(stdout + stderr).toContain("The server starts without it");
}, 60_000);
