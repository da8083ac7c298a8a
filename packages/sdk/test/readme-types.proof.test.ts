import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-readme-types-"));
});
afterAll(() => rm(room, { recursive: true, force: true }));

/** What the examples take from the program around them. */
const around = `
declare const photo: File;
declare const [reportPath, toolServerUrl, domain, token]: [string, string, string, string];
`;

test("what the README shows compiles in a strict program", async () => {
  const readme = await readFile(pathOf("../README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const options = {
    // As a program has it whose `lib` is the least that the README asks for.
    lib: ["ES2024", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    paths: { "@gantry/sdk": [pathOf("../src/index.ts")], "@gantry/wire": [pathOf("../../wire/src/index.ts")] },
    typeRoots: [pathOf("../../../node_modules/@types")],
  };
  await writeFile(join(room, "example.mts"), `${blocks.join("\n")}${around}`);
  await writeFile(
    join(room, "tsconfig.json"),
    JSON.stringify({
      extends: pathOf("./consumer/tsconfig.json"),
      compilerOptions: options,
      include: [],
      files: ["example.mts"],
    }),
  );
  const compiled = await promisify(execFile)(pathOf("../../../node_modules/.bin/tsc"), ["--noEmit", "-p", room]).then(
    () => "",
    ({ stdout }) => String(stdout),
  );
  expect(compiled).toBe("");
}, 60_000);
