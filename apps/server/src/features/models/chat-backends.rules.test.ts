import { backendsOf, backendTypes, type Manifest } from "@gantry/wire";
import { expect, test } from "vitest";
import { createImagePainter } from "../../engines/models/builtin/painter.ts";
import { createRules } from "../../engines/models/builtin/rules.ts";
import { createDriver } from "../../engines/models/create-driver.ts";
import type { Net } from "../../engines/net/net.ts";
import { createPictures } from "../../engines/pictures/create-pictures.ts";
import { holdsConversations } from "./backend.rules.ts";

const manifest = (type: string, model: string) =>
  ({
    input: { type: "object", properties: {} },
    output: { type: "object", properties: { output: { type: "string", isStream: true } } },
    backend: { type, url: "https://up.example", model },
  }) as unknown as Manifest;

const backends = Object.keys(backendTypes).flatMap((type) =>
  (type === "builtin" ? ["rules", "image"] : ["owner/name"]).map((model) => ({ type, model })),
);

test.each(backends)("$type ($model) matches its driver", async ({ type, model }) => {
  const pictures = createPictures();
  const image = createImagePainter(pictures);
  const builtins = { image, rules: createRules() };
  // Nothing is called, so there is nothing to call with.
  const driver = createDriver(manifest(type, model), backendsOf(manifest(type, model))[0], {
    net: {} as Net,
    key: undefined,
    secrets: new Map(),
    spoolFolder: "",
    builtins,
  });
  await Promise.all([image.close(), pictures.close()]);
  expect(holdsConversations(manifest(type, model))).toBe(driver.chat !== undefined);
});

test("an unknown backend does not", () => {
  expect(holdsConversations(manifest("constructor", "rules"))).toBe(false);
});
