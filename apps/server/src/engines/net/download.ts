import {
  type Download,
  type DownloadOptions,
  NetError,
  type NetHeaders,
  type NetRequest,
  type NetResponse,
} from "./net.ts";

const maxRedirects = 3;
const redirects = new Set([301, 302, 303, 307, 308]);

type Request = (request: NetRequest, redirected: boolean) => Promise<NetResponse>;

/** GET with at most three redirects under one deadline. Each address is checked. */
export async function download(request: Request, from: string | URL, options: DownloadOptions): Promise<Download> {
  const deadline = performance.now() + (options.totalMs ?? 300_000);
  let url = from;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const remaining = deadline - performance.now();
    if (remaining <= 0) throw new NetError("timeout", "The server did not answer in time");
    const { status, headers, body } = await request(
      {
        url,
        headers: { accept: options.accept ?? "*/*", "user-agent": "gantry" },
        bounds: { totalMs: remaining, headersMs: 30_000, idleMs: options.idleMs ?? 30_000, maxBytes: options.maxBytes },
        ...(options.signal && { signal: options.signal }),
      },
      hop > 0,
    );
    const location = headers.location;
    if (redirects.has(status) && typeof location === "string") {
      cut(body);
      const next = URL.parse(location, String(url));
      if (!next) throw new NetError("invalid_url", "The server redirects to an invalid address");
      url = next;
      continue;
    }
    if (status !== 200) {
      cut(body);
      throw new NetError("status", `The server answered with status ${status}`);
    }
    const length = Number(one(headers["content-length"]));
    if (length > options.maxBytes) {
      cut(body);
      throw new NetError("too_large", `The file is longer than ${options.maxBytes} bytes`);
    }
    return { body, contentType: one(headers["content-type"]), filename: filenameOf(headers, url), url: String(url) };
  }
  throw new NetError("too_many_redirects", `The server redirects more than ${maxRedirects} times`);
}

function cut(body: NetResponse["body"]): void {
  body.on("error", () => {});
  body.destroy();
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function filenameOf(headers: NetHeaders, url: string | URL): string | undefined {
  const quoted = /filename="([^"\\]{1,255})"/i.exec(one(headers["content-disposition"]) ?? "")?.[1];
  const path = new URL(url).pathname;
  const last = quoted ?? decoded(path.slice(path.lastIndexOf("/") + 1));
  // Shown to users, so without directories and control characters.
  const plain = last?.replace(/^.*[/\\]/, "").replace(/\p{Cc}/gu, "");
  return plain === "" ? undefined : plain?.slice(0, 255);
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
