import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { provideNpmProgram } from "./npm-programs.ts";
import { waitFor } from "./wait-for.ts";

export interface NpmRegistry {
  url: string;
  publish(tarball: string): Promise<void>;
  close(): Promise<void>;
}

/** Downloads are kept between test runs. */
const storage = fileURLToPath(new URL("../../../../node_modules/.cache/gantry-test-registry", import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * A registry on this machine for packages of one scope. It fetches all other packages from the configured registry.
 * Undefined: skip its tests; a warning was printed.
 */
export async function startNpmRegistry(scope: string): Promise<NpmRegistry | undefined> {
  const program = await provideNpmProgram({
    name: "a local npm registry",
    packageName: "verdaccio@6.10.4",
    path: "verdaccio/bin/verdaccio",
    // A dependency names it by a tag, which mirrors of the npm registry may not have.
    overrides: { "node-fetch": "2.6.7" },
  });
  if (program === undefined) return undefined;
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"]);
  await rm(join(storage, scope), { recursive: true, force: true });
  await mkdir(storage, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), "gantry-registry-"));
  const config = {
    storage,
    uplinks: { npm: { url: stdout.trim(), maxage: "1d", timeout: "120s" } },
    packages: {
      [`${scope}/*`]: { access: "$all", publish: "$all" },
      "**": { access: "$all", proxy: "npm" },
    },
    auth: { htpasswd: { file: join(folder, "users") } },
    web: { enable: false },
    log: { type: "stdout", format: "pretty", level: "warn" },
  };
  // JSON is YAML.
  await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [program, "--config", join(folder, "config.yaml"), "--listen", `127.0.0.1:${port}`],
    { stdio: "ignore" },
  );
  const url = `http://127.0.0.1:${port}/`;
  const close = async (): Promise<void> => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  const isUp = () =>
    fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitFor("the registry to answer", isUp, 60_000).catch(async (error) => {
    await close();
    throw error;
  });
  const settings = join(folder, "npmrc");
  // npm asks for an account before it publishes. This registry accepts any.
  await writeFile(settings, `registry=${url}\n//127.0.0.1:${port}/:_authToken=any\n`);
  return {
    url,
    async publish(tarball) {
      await promisify(execFile)("npm", ["publish", tarball, "--userconfig", settings, "--loglevel=error"]);
    },
    close,
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
    child.kill();
  });
}
