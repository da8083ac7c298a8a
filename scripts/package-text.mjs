/** Changes to compiled files that `tsc` does not make. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** `tsc` keeps `.ts` in declarations, and in the names of files that are started as threads or processes. */
export function toJavaScript(text) {
  return text
    .replaceAll(/((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]+)\.ts"/g, '$1$2.js"')
    .replaceAll(/(new URL\("\.[^"]*)\.ts", import\.meta\.url\)/g, '$1.js", import.meta.url)');
}

/** Names the modules of packages inside a package by their path. `exportsOf` has the exports of each. */
export function placeInside(text, importer, exportsOf) {
  return text.replaceAll(/"@gantry\/([a-z-]+)(\/[a-z-]+)?"/g, (specifier, name, entry = "") => {
    const target = exportsOf[name]?.[`.${entry}`];
    if (target === undefined) return specifier;
    const file = join(name, target.replace(/^\.\/src\//, "").replace(/\.ts$/, ".js"));
    const path = relative(dirname(importer), file);
    return JSON.stringify(path.startsWith(".") ? path : `./${path}`);
  });
}

export function namePackages(text, scope) {
  return text.replaceAll(/@gantry\/(?=(?:wire|sdk|server|cli)\b)/g, `${scope}/`);
}

/** Paths of the declarations that these entries import, themselves included. */
export function reachableTypes(folder, entries) {
  const found = new Set(entries);
  for (const path of found) {
    const text = readFileSync(join(folder, path), "utf8");
    for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)\.js"/g)) {
      found.add(normalize(join(dirname(path), `${target}.d.ts`)));
    }
  }
  return found;
}

const relativePaths = /(?:(?:from|import)\s*\(?\s*|new URL\()"(\.{1,2}\/[^"]*)"/g;

/** Modules and files that the code names relative to itself must be in the package. */
export function checkPaths(folder) {
  for (const path of globSync("**/*.js", { cwd: folder, exclude: ["console/**"] })) {
    for (const [, target] of readFileSync(join(folder, path), "utf8").matchAll(relativePaths)) {
      if (!existsSync(join(folder, dirname(path), target)))
        throw new Error(`${path} names ${target}, which is missing`);
    }
  }
}
