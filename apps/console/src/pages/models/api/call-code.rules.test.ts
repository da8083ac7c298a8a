import { describe, expect, it } from "vitest";
import { type CalledModel, curlCode, typescriptCode, waysOf } from "./call-code.rules.ts";

const base = "https://gantry.example.com/api/v1/gantry/image";
const image: CalledModel = {
  endpoint_id: "gantry/image",
  urls: {
    predict: `${base}/predict`,
    stream: `${base}/predict/stream/`,
    async: `${base}/predict/async/`,
    result: `${base}/predict/async/result/`,
  },
  output: { type: "object", properties: { image: { type: "string", format: "binary", "x-media": "image" } } },
};
const photo = new File(["x"], 'my "photo".png');

describe("code for curl", () => {
  it("sends a form, with no key in it", () => {
    expect(curlCode(image, "wait", { prompt: "a ship", count: 3, photo })).toBe(
      `curl -s ${base}/predict \\
  -H "X-API-KEY: $GANTRY_KEY" \\
  -F 'prompt=a ship' \\
  -F 'count=3' \\
  -F 'photo=@"my \\"photo\\".png"'`,
    );
  });

  it("lets no text be taken for something else", () => {
    const code = curlCode(image, "wait", { a: "it's", b: "@home", c: "x;type=text/html", d: { e: [1] } });
    expect(code).toContain(`-F 'a=it'\\''s'`);
    expect(code).toContain("--form-string 'b=@home'");
    expect(code).toContain("--form-string 'c=x;type=text/html'");
    expect(code).toContain(`-F 'd={"e":[1]}'`);
  });

  it("queues, and fetches by the id", () => {
    const code = curlCode(image, "queue", { prompt: "a ship" });
    expect(code).toContain(`ID=$(curl -s ${base}/predict/async/`);
    expect(code).toContain(`${base}/predict/async/result/?request_id=$ID&wait=30`);
  });
});

describe("code for TypeScript", () => {
  it("calls the model at its service", () => {
    expect(typescriptCode(image, "wait", { prompt: 'a "ship"', "odd-name": [1] })).toBe(
      `import { createClient } from "@gantry/sdk";

const client = createClient({ url: "https://gantry.example.com", key: process.env.GANTRY_KEY });
const input = {
  prompt: "a \\"ship\\"",
  "odd-name": [
    1
  ],
};

const { output_data, files } = await client.predict("gantry/image", input);
console.log(output_data, files);`,
    );
  });

  it("opens files without reading them", () => {
    const code = typescriptCode(image, "queue", { photo });
    expect(code).toContain('import { openAsBlob } from "node:fs";');
    expect(code).toContain('photo: await openAsBlob("my \\"photo\\".png"),');
  });
});

it("offers a stream where the model streams", () => {
  expect(waysOf(image)).toEqual(["wait", "queue"]);
  expect(waysOf({ output: { type: "object", properties: { output: { type: "string", isStream: true } } } })).toEqual([
    "stream",
    "queue",
  ]);
});
