import http from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Runs as a separate process, so that its memory does not count for the driver under test. Answers every media protocol
 * with one file whose size is the first argument. Sends its port to the parent process and ends with it.
 */
const size = Number(process.argv[2]);
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52]);
// A multiple of three, so that the base64 of the chunks can be concatenated.
const piece = Buffer.alloc(48 * 1024, 7);

function* file(): Generator<Buffer> {
  for (let sent = 0; sent < size; sent += piece.length) {
    const part = Buffer.from(piece.subarray(0, Math.min(piece.length, size - sent)));
    if (sent === 0) signature.copy(part);
    yield part;
  }
}

function* within(before: string, after: string): Generator<string> {
  yield before;
  for (const part of file()) yield part.toString("base64");
  yield after;
}

function* answer(path: string, host: string): Generator<string | Buffer> {
  if (path.startsWith("/files/") || path.startsWith("/view?")) yield* file();
  else if (path === "/upload/image") yield JSON.stringify({ name: "large.png", subfolder: "", type: "input" });
  else if (path === "/prompt") yield JSON.stringify({ prompt_id: "large", number: 1, node_errors: {} });
  else if (path === "/history/large") {
    const images = [{ filename: "large.png", subfolder: "", type: "output" }];
    yield JSON.stringify({ large: { outputs: { 9: { images } }, status: { status_str: "success", completed: true } } });
  } else if (path.endsWith("/predictions"))
    yield* within('{"status":"succeeded","output":"data:image/png;base64,', '"}');
  else if (path.endsWith("/predict")) {
    yield JSON.stringify({
      output_data: { image: "s3://b/k" },
      files: { image: { url: `http://${host}/files/large` } },
    });
  } else yield* within('{"data":[{"b64_json":"', '"}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}');
}

const server = http.createServer(async (req, res) => {
  for await (const _piece of req);
  res.writeHead(200, { "content-type": "application/json" });
  for (const part of answer(req.url ?? "", req.headers.host ?? "")) {
    if (!res.write(part)) await new Promise((resolve) => res.once("drain", resolve));
  }
  res.end();
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
