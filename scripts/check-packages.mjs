/** Checks the tarballs in a folder, `dist` if none is given, with publint and Are The Types Wrong. All must pass. */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { main, root } from "./set-up.mjs";

const folder = resolve(process.argv[2] ?? join(root, "dist"));
const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
if (tarballs.length === 0) {
  console.error(`${folder} has no tarballs. Run: npm run pack`);
  process.exit(1);
}
/** The command has no types: programs do not import it. */
const isTyped = (name) => !/-cli-\d/.test(name);

await main(
  () => [
    ...tarballs.map((name) => ["publint", "run", join(folder, name), "--strict"]),
    // The packages are ES modules only.
    ...tarballs.filter(isTyped).map((name) => ["attw", join(folder, name), "--profile", "esm-only", "--no-color"]),
  ],
  2,
);
