/**
 * What a user waits for before the command does its work: the packaged `gantry` beside `node -e 0`, in turns. A command
 * that calls a server is compared with the same call by a bare `fetch`, because Node takes about 60 ms to load its own.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { adminKey, serveGantry } from "./support/gantry.ts";
import { median } from "./support/median.ts";
import { verdict } from "./support/verdict.ts";

const rounds = Number(process.argv[2] ?? 25);
const mostMs = 100;
const root = fileURLToPath(new URL("..", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "gantry-startup-"));
const gantry = await serveGantry();
try {
  execFileSync(process.execPath, ["scripts/pack-packages.mjs", "--only-command", "--out", folder], { cwd: root });
  const command = join(folder, "packages", "cli", "dist", "gantry.js");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GANTRY_URL: `http://127.0.0.1:${gantry.port}`,
    GANTRY_KEY: adminKey,
  };
  const call = "fetch(process.env.GANTRY_URL).then((answer) => answer.text())";
  const calls = {
    "node -e 0": ["-e", "0"],
    "a bare fetch": ["-e", call],
    "gantry --version": [command, "--version"],
    "gantry help": [command, "help"],
    "gantry models list": [command, "models", "list"],
  };
  const times = new Map(Object.keys(calls).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries(calls)) {
      const began = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
      times.get(name)?.push(performance.now() - began);
      if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
    }
  }
  const timeOf = (name: keyof typeof calls): number => median(times.get(name) ?? []);
  const judge = (name: keyof typeof calls, beside: keyof typeof calls) =>
    verdict(`${name} above ${beside}`, timeOf(name) - timeOf(beside), "at most", mostMs, " ms");
  console.log(
    `  node -e 0 takes ${timeOf("node -e 0").toFixed(0)} ms, a bare fetch ${timeOf("a bare fetch").toFixed(0)} ms`,
  );
  judge("gantry --version", "node -e 0");
  judge("gantry help", "node -e 0");
  judge("gantry models list", "a bare fetch");
} finally {
  await gantry.stop();
  rmSync(folder, { recursive: true, force: true });
}
