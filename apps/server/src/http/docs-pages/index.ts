import type { FastifyInstance } from "fastify";
import { errorsPage } from "./errors-page.ts";
import { frontPage } from "./front-page.ts";

/** Pages that need no key: what one finds at the address itself, and what error links point to. */
export async function docsPages(app: FastifyInstance, { version }: { version: string }): Promise<void> {
  const front = frontPage(version);
  app.get("/", (_request, reply) => reply.type("text/plain; charset=utf-8").send(front));
  const errors = errorsPage();
  app.get("/docs/errors", (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .header("cache-control", "public, max-age=300")
      .send(errors),
  );
}
