import { S3Client } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { createS3Links } from "./s3-links.ts";
import { verifyLink } from "./signature.ts";

const identity = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret", sessionToken: "a/b+c=" };
const now = new Date("2026-11-18T05:00:00Z");
const linksOf = (config: object, bucket = "gantry", secondsLeft = 600) =>
  createS3Links(new S3Client({ region: "eu-central-1", credentials: identity, ...config }), {
    bucket,
    clock: { now: () => now } as never,
    credentials: { forLinks: async () => ({ identity, secondsLeft }) },
  });

test.each<[what: string, config: object, bucket: string, start: string]>([
  ["AWS", {}, "gantry", "https://gantry.s3.eu-central-1.amazonaws.com/a/b%20c.txt?"],
  ["AWS with a dot", {}, "my.files", "https://s3.eu-central-1.amazonaws.com/my.files/a/b%20c.txt?"],
  ["AWS in China", { region: "cn-north-1" }, "gantry", "https://gantry.s3.cn-north-1.amazonaws.com.cn/a/b%20c.txt?"],
  [
    "a server of one's own",
    { endpoint: "http://s3:9000", forcePathStyle: true },
    "gantry",
    "http://s3:9000/gantry/a/b%20c.txt?",
  ],
  [
    "a path before the bucket",
    { endpoint: "https://files.test/store", forcePathStyle: true },
    "gantry",
    "https://files.test/store/gantry/a/b%20c.txt?",
  ],
])("links of %s lead to its bucket and verify", async (_, config, bucket, start) => {
  const links = await linksOf(config, bucket);
  for (const [method, link] of [
    ["GET", await links.forGet("a/b c.txt", { expiresInSeconds: 60, contentType: "text/html" })],
    ["PUT", await links.forPut("a/b c.txt", { expiresInSeconds: 60 })],
  ] as const) {
    expect([link.method, link.url.startsWith(start)], link.url).toEqual([method, true]);
    const { host, pathname, search } = new URL(link.url);
    const region = "region" in config ? String(config.region) : "eu-central-1";
    const values = verifyLink({
      methods: [method],
      addresses: [{ host, path: pathname }],
      query: search.slice(1),
      region,
      credentials: identity,
      now,
    });
    expect(values.get("X-Amz-Security-Token")).toBe("a/b+c=");
    expect(values.get("X-Amz-Expires")).toBe("60");
    if (method === "GET") {
      expect(values.get("response-content-type")).toBe("text/html");
      expect(values.get("response-content-disposition")).toBe("attachment");
    }
  }
});

test("a link ends with its credentials, and is not made for longer than a week", async () => {
  const links = await linksOf({});
  const { url } = await links.forGet("a", { expiresInSeconds: 86_400, contentType: "text/plain" });
  expect(new URL(url).searchParams.get("X-Amz-Expires")).toBe("600");
  const expired = await (await linksOf({}, "gantry", -5)).forPut("a", { expiresInSeconds: 60 });
  expect(new URL(expired.url).searchParams.get("X-Amz-Expires")).toBe("1");
  for (const expiresInSeconds of [0, 1.5, 604_801]) {
    await expect(links.forPut("a", { expiresInSeconds })).rejects.toThrow(RangeError);
  }
});
