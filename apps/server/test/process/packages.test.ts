import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { provideNpmProgram } from "../support/npm-programs.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { waitFor } from "../support/wait-for.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
/** Neither is in the sources: a name or a version that does not come from the one place is found. */
const scope = "@proof";
const version = "9.8.7";
const minutes = (count: number) => count * 60_000;

let folder: string;
let packed: string;
let gantry: GantryNode;
let registry: NpmRegistry | undefined;
const groups: ChildProcess[] = [];

const exec = promisify(execFile);
const tarball = (name: string) => join(packed, `${scope.slice(1)}-${name}-${version}.tgz`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-packages-"));
  packed = join(folder, "packed");
  await exec("node", ["scripts/pack.mjs", "--scope", scope, "--version", version, "--out", packed], { cwd: root });
  registry = await startNpmRegistry(scope);
  gantry = await startGantry();
}, minutes(10));

afterAll(async () => {
  for (const { pid, exitCode, signalCode } of groups) {
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
  }
  await gantry?.close();
  await registry?.close();
  await rm(folder, { recursive: true, force: true });
}, minutes(2));

/** Only what a shell of a new user has, with one Node first on the path. */
function environment(node: string, home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    npm_config_update_notifier: "false",
    npm_config_audit: "false",
    npm_config_fund: "false",
    ...(registry && { npm_config_registry: registry.url }),
    ...more,
  };
}

/** The npm of this system, to be run by any Node. */
function npmProgram(name: "npm" | "npx"): string {
  const found = (process.env.PATH ?? "").split(":").find((path) => existsSync(join(path, "npm"))) ?? "";
  return join(dirname(realpathSync(join(found, "npm"))), `${name}-cli.js`);
}

async function provideNode(exact: string): Promise<string | undefined> {
  if (exact === process.versions.node) return process.execPath;
  const name = `node-linux-${process.arch}`;
  return provideNpmProgram({ name: `Node ${exact}`, packageName: `${name}@${exact}`, path: `${name}/bin/node` });
}

/** An empty folder with the SDK and the command from their tarballs, installed by one Node. */
async function installed(node: string, name: string): Promise<string> {
  const target = join(folder, name);
  await mkdir(target);
  await writeFile(join(target, "package.json"), JSON.stringify({ name: "consumer", type: "module" }));
  const tarballs = ["wire", "sdk", "cli"].map(tarball);
  await exec(node, [npmProgram("npm"), "install", "--loglevel=error", ...tarballs], {
    cwd: target,
    env: environment(node, target),
  });
  return target;
}

/** In a process group, as a terminal starts it. */
function start(command: string, args: readonly string[], env: Record<string, string>, cwd: string) {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  groups.push(child);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk) => {
      output[name] += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, output, ended };
}

test("every name and version in the packages comes from the one place", () => {
  const packages = readdirSync(join(packed, "packages"));
  expect(packages.toSorted()).toEqual(["cli", "sdk", "server", "wire"]);
  for (const name of packages) {
    const at = join(packed, "packages", name);
    const manifest = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
    expect([manifest.name, manifest.version]).toEqual([`${scope}/${name}`, version]);
    expect(JSON.stringify(manifest)).not.toMatch(/@gantry|workspace:|"\*"/);
    const code = globSync("**/*.{js,d.ts}", { cwd: at, exclude: ["console/**"] });
    expect(code.length).toBeGreaterThan(0);
    const stale = code.filter((file) => /["']@gantry\//.test(readFileSync(join(at, file), "utf8")));
    expect(stale, name).toEqual([]);
  }
});

test("publint and Are The Types Wrong find nothing", { timeout: minutes(5) }, async () => {
  const { stderr } = await exec("node", ["scripts/check-packages.mjs", packed], { cwd: root });
  expect(stderr.match(/All good!/g)).toHaveLength(4);
});

const program = `
import { createClient, textOf } from "${scope}/sdk";
const client = createClient({ url: process.env.GANTRY_URL, key: process.env.GANTRY_KEY });
let text = "";
for await (const event of client.stream("gantry/text", { prompt: "What is 12 * 34?" })) text += textOf(event);
const picture = await client.predict("gantry/image", { prompt: "a lighthouse", size: "1280x720" });
console.log(process.version, text.includes("408"), picture.status);
`;

describe.each(["20.20.2", "22.23.3", "24.21.0"])("under Node %s", (exact) => {
  test("the SDK and the command work in an empty folder", { timeout: minutes(5) }, async ({ skip }) => {
    const node = await provideNode(exact);
    if (node === undefined) return skip();
    const target = await installed(node, `node-${exact}`);
    await writeFile(join(target, "ask.js"), program);
    const env = environment(node, target, { GANTRY_URL: gantry.url, GANTRY_KEY: gantry.adminKey });
    const asked = await exec(node, ["ask.js"], { cwd: target, env });
    expect(asked.stdout.trim()).toBe(`v${exact} true 200`);

    const command = join(target, "node_modules", ".bin", "gantry");
    expect((await exec(command, ["--version"], { env })).stdout.trim()).toBe(version);
    expect((await exec(command, ["help"], { env })).stdout).toContain("serve");
    expect((await exec(command, ["status"], { env })).stdout).toContain("is up and ready");
    expect(existsSync(join(target, "node_modules", scope, "server"))).toBe(false);
  });
});

const resolutions = [
  { module: "esnext", moduleResolution: "bundler" },
  { module: "node16", moduleResolution: "node16" },
];

test("strict TypeScript projects and a browser bundle use the SDK", { timeout: minutes(5) }, async () => {
  const target = await installed(process.execPath, "consumer");
  const source = join(root, "packages", "sdk", "test", "consumer");
  const [file = ""] = globSync("*.ts", { cwd: source });
  const text = await readFile(join(source, file), "utf8");
  await writeFile(join(target, "program.ts"), text.replaceAll("@gantry/", `${scope}/`));
  for (const resolution of resolutions) {
    const compilerOptions = {
      ...resolution,
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    await writeFile(join(target, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    const checked = await exec(join(root, "node_modules", ".bin", "tsc"), ["-p", target]).catch((error) => error);
    expect(checked.stdout, resolution.moduleResolution).toBe("");
  }

  await writeFile(join(target, "entry.js"), `export * from "${scope}/sdk";`);
  await build({
    root: target,
    configFile: false,
    logLevel: "error",
    build: { lib: { entry: "entry.js", formats: ["es"], fileName: "bundle" }, outDir: "bundled" },
  });
  const bundle = join(target, "bundled", "bundle.js");
  expect(await readFile(bundle, "utf8")).not.toMatch(/["'`]node:|\bfrom ?["']|__vite-browser-external/);
  const { createClient } = await import(pathToFileURL(bundle).href);
  expect((await createClient({ url: gantry.url, key: gantry.adminKey }).me()).username).toBe("admin");
});

describe("the command without the server", () => {
  const inCache = async (home: string) => readdirSync(join(home, ".cache", "gantry"));

  test("an installation that is killed or cannot be made leaves nothing to run", { timeout: minutes(5) }, async ({
    skip,
  }) => {
    const node = await provideNode("20.20.2");
    if (node === undefined || registry === undefined) return skip();
    const target = await installed(node, "unfinished");
    const command = join(target, "node_modules", ".bin", "gantry");
    const killed = start(command, ["serve"], environment(node, target, { PORT: "0" }), target);
    const cache = join(target, ".cache", "gantry");
    const isUnderWay = () => existsSync(cache) && readdirSync(cache).some((name) => name.includes(".unfinished-"));
    await waitFor("an installation to begin", isUnderWay, minutes(1));
    process.kill(-(killed.child.pid ?? 0), "SIGKILL");
    await killed.ended;
    expect(killed.output.stderr).toContain(`Installing ${scope}/server ${version}`);
    expect(await inCache(target)).not.toContain(`server-${version}`);

    // The discard port: connections are refused.
    const offline = { npm_config_registry: "http://127.0.0.1:9/", npm_config_fetch_retries: "0", PORT: "0" };
    const refused = start(command, ["serve"], environment(node, target, offline), target);
    expect(await refused.ended).toBe(1);
    expect(refused.output.stderr).toContain(`${scope}/server ${version} could not be installed: `);
    expect(refused.output.stderr).toContain(`run: npm install --prefix ${join(cache, `server-${version}`)} `);
    expect(await inCache(target)).not.toContain(`server-${version}`);
  });

  test("npx goes from nothing to a first prediction, and stops on SIGTERM", { timeout: minutes(10) }, async ({
    skip,
  }) => {
    const node = await provideNode("20.20.2");
    if (node === undefined || registry === undefined) return skip();
    for (const name of ["wire", "sdk", "server", "cli"]) await registry.publish(tarball(name));
    const home = join(folder, "home");
    await mkdir(home);
    const settings = { npm_config_cache: join(home, "npm-cache"), PORT: "0", GANTRY_FIND_MODELS: "0" };
    const args = [npmProgram("npx"), "--yes", `${scope}/cli`, "serve"];
    const served = start(node, args, environment(node, home, settings), home);
    const { output } = served;
    const printed = (pattern: RegExp) => pattern.exec(output.stdout)?.[1];
    const isServing = () => served.child.exitCode !== null || output.stdout.includes("Sign in to the console");
    await waitFor("the server to listen", isServing, minutes(9));
    expect(output.stdout, output.stderr).toContain(`Database, files and keys are in ${join(home, ".gantry")}`);
    const url = printed(/^Gantry listens on (\S+)$/m);
    const key = printed(/^Admin API key \(shown once\): (\S+)$/m) ?? "";
    const form = new FormData();
    form.set("prompt", "What is 6 * 7?");
    const answer = await fetch(`${url}/api/v1/gantry/text/predict/stream/`, {
      method: "POST",
      headers: { "x-api-key": key },
      body: form,
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("42")]);
    expect((await fetch(`${url}/console/`)).status).toBe(200);

    served.child.kill("SIGTERM");
    await served.ended;
    expect(output.stdout).toContain('"msg":"Stopped"');
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
