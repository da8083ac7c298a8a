import { describe, expect, it } from "vitest";
import { type CalledModel, curlCode, modesOf } from "./call-code.rules.ts";
import { pythonCode } from "./python-code.rules.ts";
import { typescriptCode } from "./typescript-code.rules.ts";

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
  it("sends a form with fetch", () => {
    expect(typescriptCode(image, "sync", { prompt: 'a "ship"', tags: ["x"] })).toBe(
      `const headers = { "X-API-KEY": process.env.GANTRY_KEY ?? "" };
const form = new FormData();
form.append("prompt", "a \\"ship\\"");
form.append("tags", "[\\"x\\"]");

const response = await fetch("${base}/predict", { method: "POST", headers, body: form });
if (!response.ok) throw new Error(await response.text());
const { output_data, files } = await response.json();
console.log(output_data, files);`,
    );
  });

  it("opens files as blobs", () => {
    const code = typescriptCode(image, "async", { photos: [photo, "s3://gantry/b.png"] });
    expect(code).toContain('import { openAsBlob } from "node:fs";');
    expect(code).toContain(
      `form.append("photos", await openAsBlob("my \\"photo\\".png"), "my \\"photo\\".png");
form.append("photos", "s3://gantry/b.png");`,
    );
    expect(code).toContain(`${base}/predict/async/result/?wait=30&request_id=\${prediction_id}`);
  });
});

describe("Python", () => {
  it("sends a form with requests", () => {
    expect(pythonCode(image, "sync", { prompt: 'a "ship"\nat sea', count: 3, photo })).toBe(
      `# pip install requests
import os
import requests

headers = {"X-API-KEY": os.environ["GANTRY_KEY"]}
form = [
    ("prompt", (None, "a \\"ship\\"\\nat sea")),
    ("count", (None, "3")),
    ("photo", open("my \\"photo\\".png", "rb")),
]

response = requests.post("${base}/predict", headers=headers, files=form)
response.raise_for_status()
answer = response.json()
print(answer["output_data"], answer["files"])`,
    );
  });

  it("streams, or fetches the result by id", () => {
    expect(pythonCode(image, "stream", {})).toContain("for line in response.iter_lines():");
    expect(pythonCode(image, "async", {})).toContain('params={"request_id": prediction_id, "wait": 30}');
  });
});

it("streaming models offer a stream instead of a sync call", () => {
  expect(modesOf(image)).toEqual(["sync", "async"]);
  expect(modesOf({ output: { type: "object", properties: { output: { type: "string", isStream: true } } } })).toEqual([
    "stream",
    "async",
  ]);
});
