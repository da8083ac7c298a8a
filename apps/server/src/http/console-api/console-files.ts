import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { etagMatches } from "../blob-api/conditions.rules.ts";
import { pathOf } from "../foundation/request-line.ts";
import { chooseEncoding } from "./content-encoding.rules.ts";
import { pagePolicy } from "./page-policy.rules.ts";
import { readFiles } from "./read-files.ts";

export interface ConsoleFilesDeps {
  log: Log;
  /** The output of the console's build. */
  folder: string;
  /** The origin of signed links; undefined if it is the one of the request. */
  linkAddress: string | undefined;
}

const template = "/console/*";
const notBuilt = "The console is not built. Run npm run build and restart the server.\n";

/**
 * Serves the files of the console's build, read once. They need no key: the pages call the API with the session of the
 * user. A path that is not a file is a page of the console and gets index.html.
 */
export async function consoleFiles(app: FastifyInstance, deps: ConsoleFilesDeps): Promise<void> {
  const { log, folder, linkAddress } = deps;
  const files = readOrWarn(folder, log);
  const headers = {
    "content-security-policy": pagePolicy(linkAddress),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };

  async function send(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    request.template = template;
    if (/^api(\/|$)/.test(path)) throw fault("not_found", "Not found");
    if (!files)
      return reply.code(503).type("text/plain; charset=utf-8").header("cache-control", "no-store").send(notBuilt);
    const isOfBuild = /^assets(\/|$)/.test(path);
    const file = files.get(path) ?? (isOfBuild ? undefined : files.get("index.html"));
    if (!file) throw fault("not_found", "Not found");
    const encoding = file.isCompressible ? chooseEncoding(request.headers["accept-encoding"]) : undefined;
    const etag = file.etag(encoding);
    // Names of built assets contain a content hash; other files keep their name.
    const caching = isOfBuild ? "public, max-age=31536000, immutable" : "no-cache";
    reply.headers({ ...headers, etag, "cache-control": caching });
    if (file.isCompressible) reply.header("vary", "accept-encoding");
    if (etagMatches(request.headers["if-none-match"], etag)) return reply.code(304).send();
    if (encoding) reply.header("content-encoding", encoding);
    return reply.type(file.type).send(await file.bytes(encoding));
  }

  // The router accepts both spellings, but relative links in the page need the slash.
  app.get("/console", async (request, reply) => {
    if (pathOf(request.url).endsWith("/")) return send(request, reply, "index.html");
    request.template = template;
    return reply.redirect("console/");
  });
  app.get<{ Params: { "*": string } }>(template, (request, reply) => send(request, reply, request.params["*"]));
}

/** The server is useful without the console. */
function readOrWarn(folder: string, log: Log): ReturnType<typeof readFiles> | undefined {
  try {
    return readFiles(folder);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isMissing) log.warn({ err: error }, "The console is unavailable: its files cannot be read");
  }
}
