import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import { type LinkMethod, type LinkOptions, maxLinkLength, signLink, verifyLink } from "./signature.ts";
import { encodePath, encodeStrict } from "./uri-encoding.ts";

const example = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

const signedAt = new Date("2026-03-01T12:00:00Z");
const usual: LinkOptions = {
  method: "GET",
  base: "http://files.example:8080",
  path: "/s3/gantry/uploads/file_1/photo (1).png",
  query: { Expires: "86400" },
  region: "local",
  credentials: example,
  now: signedAt,
  expiresInSeconds: 86_400,
};

function check(link: string, change: { method?: LinkMethod; host?: string; now?: Date; region?: string } = {}) {
  const [address, query] = link.split("?");
  const { host } = new URL(link);
  return verifyLink({
    methods: [change.method ?? "GET"],
    addresses: [{ host: change.host ?? host, path: address?.replace(/^https?:\/\/[^/]+/, "") ?? "" }],
    query: query ?? "",
    region: change.region ?? "local",
    credentials: example,
    now: change.now ?? signedAt,
  });
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return `${error.status} ${error.message}`;
    throw error;
  }
  return "accepted";
}

const mismatch = "403 The link's signature does not match";

test("creates the presigned GET link of the AWS documentation", () => {
  const link = signLink({
    method: "GET",
    base: "https://examplebucket.s3.amazonaws.com",
    path: "/test.txt",
    region: "us-east-1",
    credentials: example,
    now: new Date("2013-05-24T00:00:00Z"),
    expiresInSeconds: 86_400,
  });
  expect(link).toBe(
    "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256" +
      "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request" +
      "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
      "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  );
  expect(() => check(link, { region: "us-east-1", now: new Date("2013-05-24T23:59:59Z") })).not.toThrow();
});

test("encodes every byte but the unreserved ones, once, in upper case", () => {
  const all = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");
  for (const character of all) {
    const plain = /[A-Za-z0-9._~-]/.test(character);
    const hex = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
    expect(encodeStrict(character)).toBe(plain ? character : `%${hex}`);
  }
  expect(encodePath("/a b/ü%2F/日")).toBe("/a%20b/%C3%BC%252F/%E6%97%A5");
});

describe("a link that was signed here", () => {
  test("is accepted until it expires, and a little before its date", () => {
    const link = signLink(usual);
    const at = (seconds: number) => ({ now: new Date(signedAt.getTime() + seconds * 1000) });
    expect(refusal(() => check(link, at(86_400)))).toBe("accepted");
    expect(refusal(() => check(link, at(86_401)))).toBe("403 The link has expired");
    expect(refusal(() => check(link, at(-299)))).toBe("accepted");
    expect(refusal(() => check(link, at(-301)))).toBe("403 The link is not valid yet");
  });

  test("is bound to its method, host, path and every parameter", () => {
    const link = signLink(usual);
    expect(refusal(() => check(link, { method: "PUT" }))).toBe(mismatch);
    expect(refusal(() => check(link, { host: "other.example:8080" }))).toBe(mismatch);
    expect(refusal(() => check(link.replace("file_1", "file_2")))).toBe(mismatch);
    expect(refusal(() => check(`${link}&response-content-type=text%2Fhtml`))).toBe(mismatch);
    expect(refusal(() => check(link.replace("?", "?a&")))).toBe(mismatch);
    expect(refusal(() => check(link.replace("&Expires=86400", "").replace("?Expires=86400&", "?")))).toBe(mismatch);
    expect(refusal(() => check(link.replace("X-Amz-Expires=86400", "X-Amz-Expires=86401")))).toBe(mismatch);
    expect(refusal(() => check(link.replace("20260301T120000Z", "20260301T130000Z")))).toBe(mismatch);
    expect(refusal(() => check(`${link}&X-Amz-Expires=86400`))).toBe(mismatch);
  });

  test("is refused with any one digit of its signature changed, cut, or left out", () => {
    const link = signLink(usual);
    const signature = link.slice(-64);
    for (let at = 0; at < 64; at++) {
      const other = signature[at] === "0" ? "1" : "0";
      const forged = signature.slice(0, at) + other + signature.slice(at + 1);
      expect(refusal(() => check(link.slice(0, -64) + forged))).toBe(mismatch);
    }
    for (const bad of ["", "zz", signature.slice(1), `${signature}0`, "é"]) {
      expect(refusal(() => check(link.slice(0, -64) + encodeURIComponent(bad)))).toBe(mismatch);
    }
    expect(refusal(() => check(link.slice(0, link.indexOf("&X-Amz-Signature"))))).toBe("403 The link is not signed");
    expect(refusal(() => check(`${link}&x=%zz`))).toBe("403 The link is not signed");
  });

  test("is accepted in another spelling of the same address", () => {
    const link = signLink({ ...usual, query: { "response-content-disposition": 'attachment; filename="a b.png"' } });
    expect(refusal(() => check(link.replace("%28", "(").replace("%29", ")")))).toBe("accepted");
    const [address, query] = link.split("?");
    expect(refusal(() => check(`${address}?${new URLSearchParams(query)}`))).toBe("accepted");
    expect(refusal(() => check(`${address}?${(query ?? "").split("&").reverse().join("&")}`))).toBe("accepted");
  });

  test("carries a proxy's path prefix in what it signs", () => {
    const link = signLink({ ...usual, base: "https://example.com/gantry/" });
    expect(link.startsWith("https://example.com/gantry/s3/gantry/uploads/file_1/photo%20%281%29.png?")).toBe(true);
    expect(refusal(() => check(link))).toBe("accepted");
  });

  test("may be as long as 2083 characters and no longer", () => {
    const room = maxLinkLength - signLink({ ...usual, path: "/" }).length;
    expect(signLink({ ...usual, path: `/${"a".repeat(room)}` })).toHaveLength(maxLinkLength);
    expect(refusal(() => signLink({ ...usual, path: `/${"a".repeat(room + 1)}` }))).toMatch(
      /^422 The name is too long/,
    );
  });
});

test("agrees with a second, independent calculation on random keys, names and parameters", () => {
  const pieces = ["a", "Z", "9", "-", "~", " ", "+", "%", "/", "!", "'", "(", ")", "*", "ü", "日", "🙂", "&", "=", "?"];
  const random = (length: number) => Array.from({ length }, () => pieces[randomInt(pieces.length)]).join("");
  for (let round = 0; round < 300; round++) {
    const credentials = {
      accessKeyId: randomBytes(8).toString("hex"),
      secretAccessKey: randomBytes(30).toString("base64"),
    };
    const query = { [`p${random(3)}`]: random(5), [`q${random(3)}`]: random(5) };
    const path = `/x${random(12)}`;
    const link = signLink({ ...usual, credentials, path, query });
    const parts = new URL(link);

    const params = [...parts.searchParams].filter(([name]) => name !== "X-Amz-Signature");
    const rfc3986 = (text: string) =>
      [...Buffer.from(text)]
        .map((byte) => {
          const character = String.fromCharCode(byte);
          return /[\w.~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
        })
        .join("");
    const request = [
      "GET",
      path.split("/").map(rfc3986).join("/"),
      params
        .map(([name, value]) => `${rfc3986(name)}=${rfc3986(value)}`)
        .sort((a, b) => {
          const [nameA = "", nameB = ""] = [a.split("=")[0], b.split("=")[0]];
          return nameA < nameB ? -1 : nameA > nameB ? 1 : a < b ? -1 : 1;
        })
        .join("&"),
      "host:files.example:8080",
      "",
      "host",
      "UNSIGNED-PAYLOAD",
    ].join("\n");
    const scope = "20260301/local/s3/aws4_request";
    const hash = createHash("sha256").update(request).digest("hex");
    const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
    const day = hmac(`AWS4${credentials.secretAccessKey}`, "20260301");
    const key = hmac(hmac(hmac(day, "local"), "s3"), "aws4_request");
    const expected = hmac(key, `AWS4-HMAC-SHA256\n20260301T120000Z\n${scope}\n${hash}`).toString("hex");
    expect(parts.searchParams.get("X-Amz-Signature")).toBe(expected);

    const received = {
      methods: ["GET" as const],
      addresses: [{ host: parts.host, path: link.slice(parts.origin.length, link.indexOf("?")) }],
      query: link.slice(link.indexOf("?") + 1),
      region: "local",
      credentials,
      now: signedAt,
    };
    expect(refusal(() => verifyLink(received))).toBe("accepted");
    const other = { ...credentials, secretAccessKey: randomBytes(30).toString("base64") };
    expect(refusal(() => verifyLink({ ...received, credentials: other }))).toBe(mismatch);
  }
});
