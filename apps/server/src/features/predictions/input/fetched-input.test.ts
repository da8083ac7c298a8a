import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readMultipart } from "../../../http/multipart/index.ts";
import { type CheckedInput, type OpenStored, readInput } from "./index.ts";
import {
  bigPng,
  brief,
  encode,
  endless,
  faults,
  filesUrl,
  guarded,
  manifest,
  media,
  open,
  type Part,
  post,
  spoolDir,
  spooled,
  useInputRequests,
} from "./input-request.fixture.ts";

useInputRequests();

describe("an address without a valid file", () => {
  it.each([
    ["/nothing", "file_download_error"],
    ["/text", "invalid_image_format"],
    ["/huge", "file_too_large"],
    ["/endless", "file_too_large"],
    ["/cut", "file_download_error"],
  ])("%s is %s", async (path, type) => {
    const address = `${filesUrl}${path}`;
    expect(
      await faults([
        ["prompt", "x"],
        ["image", address],
      ]),
    ).toMatchObject([{ type, loc: ["body", "image"], input: address }]);
  });

  it.each([
    "cat.png",
    "/etc/passwd",
    "file:///etc/passwd",
    "ftp://a.example/cat.png",
    "data:nothing",
    "data:;base64,***",
    "http://",
    "http://u:p@a.example/",
    "http://no-such-host.invalid/",
    "s3://bucket/not-mine",
  ])("%s is file_download_error", async (address) => {
    expect(
      brief(
        await faults([
          ["prompt", "x"],
          ["i_image", address],
        ]),
      ),
    ).toEqual(["file_download_error i_image"]);
  });

  it("is not fetched from private networks, and the error does not describe what a name resolves to", async () => {
    for (const address of [
      `${filesUrl}/cat.png`,
      filesUrl.replace("127.0.0.1", "localhost"),
      "http://169.254.169.254/",
    ]) {
      const [issue] = await faults(
        [
          ["prompt", "x"],
          ["image", address],
        ],
        { net: guarded },
      );
      expect(issue).toMatchObject({ type: "file_download_error" });
      const { host } = new URL(address);
      expect(issue?.msg.replace(host, "")).not.toMatch(/127|169|ECONN|local/);
    }
  });

  it("is not fetched if there are other issues", async () => {
    let asked = 0;
    const openStored: OpenStored = async () => {
      asked++;
      return undefined;
    };
    expect(
      brief(
        await faults(
          [
            ["image", "s3://b/k"],
            ["image1", "data:x"],
          ],
          { openStored },
        ),
      ),
    ).toEqual(["missing prompt", "file_download_error image1"]);
    expect(asked).toBe(0);
  });

  it("reports several together and removes fetched files", async () => {
    const parts: Part[] = [
      ["prompt", "x"],
      ["image", `${filesUrl}/cat.png`],
      ["image1", `${filesUrl}/nothing`],
      ["clip", `${filesUrl}/text`],
    ];
    expect(brief(await faults(parts))).toEqual(["file_download_error image1", "invalid_video_format clip"]);
  });

  it("a stored file that is too large is not read", async () => {
    const stream = Readable.from(endless());
    const openStored: OpenStored = async () => ({ stream, size: 31_457_281 });
    expect(
      brief(
        await faults(
          [
            ["prompt", "x"],
            ["image", "s3://b/k"],
          ],
          { openStored },
        ),
      ),
    ).toEqual(["file_too_large image"]);
    expect(stream.destroyed).toBe(true);
  });
});

describe("a client that disconnects", () => {
  it("during an upload leaves no file", async () => {
    const server = http.createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = net.connect((server.address() as AddressInfo).port);
    socket.on("error", () => {});
    const read = new Promise<CheckedInput>((resolve, reject) => {
      server.on("request", (request) => {
        const signal = new AbortController().signal;
        const form: Parameters<typeof readInput>[0]["form"] = (reading) => readMultipart(request, reading);
        const extras = { user: false, webhook: false };
        readInput({
          manifest,
          form,
          extras,
          spoolDir,
          net: open,
          media,
          openStored: async () => undefined,
          userId: "one",
          hashes: true,
          signal,
        }).then(resolve, reject);
      });
    });
    const ended = expect(read).rejects.toMatchObject({ type: "multipart_invalid" });
    socket.write(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=cut\r\ncontent-length: 9000000\r\n\r\n",
    );
    socket.write(
      encode([
        ["image", bigPng, "a.png"],
        ["clip", Buffer.alloc(500_000), "b"],
      ]).subarray(0, 400_000),
    );
    await expect.poll(async () => (await spooled()).length).toBe(2);
    socket.destroy();
    await ended;
    expect(await spooled()).toEqual([]);
    server.close();
  });

  it("during a download stops it and leaves no file", async () => {
    const leave = new AbortController();
    const reason = new Error("gone");
    const parts: Part[] = [
      ["prompt", "x"],
      ["image", `${filesUrl}/slow`],
      ["image1", bigPng, "a.png"],
    ];
    await post(parts, { signal: leave.signal }, async (read) => {
      await expect.poll(async () => (await spooled()).length).toBe(2);
      leave.abort(reason);
      await expect(read).rejects.toBe(reason);
      expect(await spooled()).toEqual([]);
    });
  });
});
