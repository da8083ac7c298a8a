import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
/** 36 megapixels, the maximum, in 829 bytes that take a second to decode. */
let avif: Buffer;

beforeAll(async () => {
  gantry = await startGantry();
  avif = await flat(6000).avif({ effort: 0 }).toBuffer();
}, 60_000);
afterAll(async () => {
  await gantry.close();
});

const flat = (side: number) => sharp({ create: { width: side, height: side, channels: 3, background: "#336699" } });
const inspected = async (work: string): Promise<number> => {
  const { text } = await gantry.call("GET", "/metrics");
  return Number(new RegExp(`gantry_input_files_inspected_total\\{work="${work}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
};
const paint = (form: Record<string, string | Blob>, key?: string) =>
  gantry.call("POST", "/api/v1/gantry/image/predict", { form: { prompt: "a hill", ...form }, ...(key && { key }) });
const dataUri = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString("base64")}`;

describe("an image of a format that the field does not accept", () => {
  const refused = { detail: [{ type: "invalid_image_format", loc: ["body", "image"] }] };
  const undecoded = async (image: string | Blob) => {
    const before = [await inspected("probe"), await inspected("decode")];
    const answer = await paint({ image });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body).toMatchObject(refused);
    expect([await inspected("probe"), await inspected("decode")]).toEqual(before);
  };

  test("is refused by its head, as a part of the form", () => undecoded(new File([new Uint8Array(avif)], "photo.png")));

  test("is refused by its head, as a data: URI", () => undecoded(dataUri(avif, "image/png")));

  test("is refused by its head, at an address", async () => {
    const server = createServer((_request, response) => response.end(avif));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await undecoded(`http://127.0.0.1:${(server.address() as AddressInfo).port}/photo.png`);
    server.close();
  });

  test("is refused by its head, as a stored file", async () => {
    const form = { file: new File([new Uint8Array(avif)], "photo.png", { type: "image/png" }) };
    const stored = await gantry.call("POST", "/api/v1/gantry/image/upload_file", { form });
    expect(stored.status, stored.text).toBe(200);
    await undecoded(stored.body.file_input.s3_path);
  });
});

test("one user's slow images do not delay another user's", async () => {
  const [crowd, other] = [await gantry.newUser("crowd", { plan: "free" }), await gantry.newUser("other")];
  const large = dataUri(await flat(6000).jpeg({ progressive: true }).toBuffer(), "image/jpeg");
  const small = dataUri(await flat(64).png().toBuffer(), "image/png");
  const fields = ["image", ...Array.from({ length: 9 }, (_, n) => `image${n + 1}`)];
  const ended: string[] = [];
  // Refused later for another reason, so that no picture is drawn.
  const send = async (name: string, key: string, images: Record<string, string>) => {
    const answer = await paint({ size: "none", ...images }, key);
    ended.push(name);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.detail).toHaveLength(1);
  };
  const before = await inspected("decode");
  const crowding = send("crowd", crowd, Object.fromEntries(fields.map((field) => [field, large])));
  await waitFor("the first decode", async () => (await inspected("decode")) > before);
  await send("other", other, { image: small });
  await crowding;
  expect(ended).toEqual(["other", "crowd"]);
}, 60_000);
