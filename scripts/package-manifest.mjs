import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./set-up.mjs";

/** Published packages and their workspaces, each after those that it depends on. */
export const published = {
  wire: "packages/wire",
  sdk: "packages/sdk",
  server: "apps/server",
  cli: "packages/cli",
};

const read = (folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

const compiledPath = (path, end) => path.replace(/^\.\/src\/(.*)\.ts$/, `./dist/$1${end}`);

function compiledExports(exports) {
  const entries = Object.entries(exports).map(([name, path]) => [
    name,
    { types: compiledPath(path, ".d.ts"), default: compiledPath(path, ".js") },
  ]);
  return Object.fromEntries([...entries, ["./package.json", "./package.json"]]);
}

/** The package.json of a published package, made from that of its workspace. The names still have the scope of the code. */
export function publishedManifest(workspace, { version }) {
  const { name, description, license, exports, bin, dependencies = {}, optionalDependencies } = read(workspace);
  const isServer = workspace === published.server;
  const isOwn = (one) => Object.values(published).some((folder) => read(folder).name === one);
  const isWorkspace = (one) => one.startsWith(`${name.split("/", 1)[0]}/`);
  // The bundle of the command contains what it imports, and the command installs the server itself.
  const needed = Object.entries(bin ? {} : dependencies).filter(([one]) => isOwn(one) || !isWorkspace(one));
  return {
    name,
    version,
    description,
    license,
    type: "module",
    engines: { node: ">=20" },
    ...(bin && { bin: { gantry: "dist/gantry.js" } }),
    ...(exports && { exports: compiledExports(exports) }),
    // Bundlers may leave out unused modules.
    ...(exports && !isServer && { sideEffects: false }),
    files: isServer ? ["dist", "console", "migrations", "painter", "rules-model"] : ["dist"],
    ...(needed.length > 0 && {
      dependencies: Object.fromEntries(needed.map(([one, range]) => [one, isOwn(one) ? version : range])),
    }),
    ...(isServer && { optionalDependencies: { ...optionalDependencies, ...read(".").optionalDependencies } }),
    publishConfig: { access: "public" },
  };
}
