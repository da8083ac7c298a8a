import { describe, expect, it } from "vitest";
import { type CalledModel, curlCode, modesOf, typescriptCode } from "./call-code.rules.ts";

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

describe("curl", () => {
  it("sends a form and reads the key from the environment", () => {
    expect(curlCode(image, "sync", { prompt: "a ship", count: 3, photo })).toBe(
      `curl -s ${base}/predict \\
  -H "X-API-KEY: $GANTRY_KEY" \\
  -F 'prompt=a ship' \\
  -F 'count=3' \\
  -F 'photo=@"my \\"photo\\".png"'`,
    );
  });

  it("sends a list of files as repeated parts", () => {
    const code = curlCode(image, "sync", { photos: [photo, "s3://gantry/b.png"], tags: ["x"] });
    expect(code).toContain(
      `-F 'photos=@"my \\"photo\\".png"' \\\n  -F 'photos=s3://gantry/b.png' \\\n  -F 'tags=["x"]'`,
    );
    const typescript = typescriptCode(image, "sync", { photos: [photo, "s3://gantry/b.png"] });
    expect(typescript).toContain(`photos: [await openAsBlob("my \\"photo\\".png"), "s3://gantry/b.png"],`);
    expect(typescript).toContain('import { openAsBlob } from "node:fs";');
  });

  it("escapes text that curl would interpret", () => {
    const code = curlCode(image, "sync", { a: "it's", b: "@home", c: "x;type=text/html", d: { e: [1] } });
    expect(code).toContain(`-F 'a=it'\\''s'`);
    expect(code).toContain("--form-string 'b=@home'");
    expect(code).toContain("--form-string 'c=x;type=text/html'");
    expect(code).toContain(`-F 'd={"e":[1]}'`);
  });

  it("submits, then fetches the result by id", () => {
    const code = curlCode(image, "async", { prompt: "a ship" });
    expect(code).toContain(`ID=$(curl -s ${base}/predict/async/`);
    expect(code).toContain(`${base}/predict/async/result/?request_id=$ID&wait=30`);
  });
});

describe("TypeScript", () => {
  it("calls the model with the SDK", () => {
    expect(typescriptCode(image, "sync", { prompt: 'a "ship"', "odd-name": [1] })).toBe(
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

  it("opens files as blobs", () => {
    const code = typescriptCode(image, "async", { photo });
    expect(code).toContain('import { openAsBlob } from "node:fs";');
    expect(code).toContain('photo: await openAsBlob("my \\"photo\\".png"),');
  });
});

it("streaming models offer a stream instead of a sync call", () => {
  expect(modesOf(image)).toEqual(["sync", "async"]);
  expect(modesOf({ output: { type: "object", properties: { output: { type: "string", isStream: true } } } })).toEqual([
    "stream",
    "async",
  ]);
});
