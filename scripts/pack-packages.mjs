/** Runs after the set-up and the build of the console, see pack.mjs. */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { builtFolder, stampFile } from "./console-build.mjs";
import { published, publishedManifest } from "./package-manifest.mjs";
import { checkPaths, namePackages, placeInside, reachableTypes, toJavaScript } from "./package-text.mjs";
import { root } from "./set-up.mjs";

const { version: ownVersion, scope: ownScope } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { values: options } = parseArgs({
  options: {
    scope: { type: "string", default: ownScope },
    version: { type: "string", default: ownVersion },
    out: { type: "string", default: join(root, "dist") },
    // For measurements of the command.
    "only-command": { type: "boolean", default: false },
  },
});
const out = resolve(options.out);
const compiled = join(out, "compiled");
const folderOf = (name) => join(out, "packages", name);

/** Packages that only the server uses are part of its package. */
const insideServer = ["painter", "rules-model"];

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function compile() {
  execFileSync("tsc", ["-p", join(root, "scripts", "tsconfig.packages.json"), "--outDir", compiled], {
    stdio: "inherit",
  });
}

/** Copies compiled files of one workspace; `edit` changes their text. */
function copyCompiled(workspace, target, edit = (text) => text) {
  const from = join(compiled, workspace, "src");
  for (const path of globSync("**/*.{js,json,d.ts}", { cwd: from })) {
    write(join(target, path), edit(toJavaScript(readFileSync(join(from, path), "utf8")), path));
  }
}

function buildServer() {
  const folder = folderOf("server");
  const inside = Object.fromEntries(
    insideServer.map((name) => [name, JSON.parse(readFileSync(join(root, "packages", name, "package.json"))).exports]),
  );
  copyCompiled("apps/server", join(folder, "dist"), (text, path) => placeInside(text, join("dist", path), inside));
  for (const name of insideServer) copyCompiled(join("packages", name), join(folder, name));
  const types = reachableTypes(folder, ["dist/operate/index.d.ts"]);
  for (const path of globSync("**/*.d.ts", { cwd: folder })) if (!types.has(path)) rmSync(join(folder, path));

  const source = join(root, "apps", "server");
  for (const path of globSync("features/**/*.sql", { cwd: join(source, "src") })) {
    mkdirSync(dirname(join(folder, "dist", path)), { recursive: true });
    copyFileSync(join(source, "src", path), join(folder, "dist", path));
  }
  cpSync(join(source, "migrations"), join(folder, "migrations"), {
    recursive: true,
    filter: (path) => !path.endsWith(".txt"),
  });
  cpSync(builtFolder, join(folder, "console"), { recursive: true, filter: (path) => !path.endsWith(stampFile) });
}

/** One chunk for each command, so that a command loads only its own code. The SDK is inside. */
async function buildCommand() {
  const bundle = await rolldown({
    input: { gantry: join(root, "packages", "cli", "src", "main.ts") },
    external: [/^@gantry\/server/],
    platform: "node",
    transform: { target: "node20" },
  });
  await bundle.write({
    dir: join(folderOf("cli"), "dist"),
    format: "esm",
    // All in one folder: each chunk finds package.json in the folder above.
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    banner: ({ isEntry }) => (isEntry ? "#!/usr/bin/env node" : ""),
  });
  await bundle.close();
}

function finish(name, workspace) {
  const folder = folderOf(name);
  const manifest = publishedManifest(workspace, { version: options.version });
  write(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  copyFileSync(join(root, workspace, "README.md"), join(folder, "README.md"));
  for (const path of globSync("{package.json,README.md,**/*.js,**/*.d.ts}", { cwd: folder })) {
    const file = join(folder, path);
    const text = readFileSync(file, "utf8");
    const named = namePackages(text, options.scope);
    if (named !== text) writeFileSync(file, named);
  }
  checkPaths(folder);
}

function pack(name) {
  const packed = execFileSync("npm", ["pack", "--json", "--loglevel=error", "--pack-destination", out], {
    cwd: folderOf(name),
    encoding: "utf8",
  });
  const [{ filename, size, entryCount }] = Object.values(JSON.parse(packed));
  console.log(`${join(out, filename)}: ${entryCount} files, ${Math.ceil(size / 1024)} kB`);
}

rmSync(join(out, "packages"), { recursive: true, force: true });
for (const tarball of globSync("*.tgz", { cwd: out })) rmSync(join(out, tarball));
await buildCommand();
if (options["only-command"]) {
  finish("cli", published.cli);
} else {
  rmSync(compiled, { recursive: true, force: true });
  compile();
  for (const name of ["wire", "sdk"]) copyCompiled(join("packages", name), join(folderOf(name), "dist"));
  buildServer();
  for (const [name, workspace] of Object.entries(published)) {
    finish(name, workspace);
    pack(name);
  }
  rmSync(compiled, { recursive: true });
}
