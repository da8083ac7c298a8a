import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { templates } from "./templates.ts";

test("every example is a template", () => {
  const folder = new URL("../../../../examples/agents/", import.meta.url);
  const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), "utf8"));
  const files = readdirSync(folder);
  const expected = files
    .filter((file) => !file.endsWith(".setup.json"))
    .map((file) => {
      const setup = file.replace(/\.json$/, ".setup.json");
      return [
        file.replace(/\.json$/, ""),
        { fields: read(file), ...(files.includes(setup) && { setup: read(setup) }) },
      ];
    });
  expect(templates).toEqual(Object.fromEntries(expected));
});
