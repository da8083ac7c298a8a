import type { FastifyInstance } from "fastify";
import { errorsPage } from "./errors-page.ts";

/** Pages that need no key: what error links point to. */
export async function docsPages(app: FastifyInstance): Promise<void> {
  const errors = errorsPage();
  app.get("/docs/errors", (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .header("cache-control", "public, max-age=300")
      .send(errors),
  );
}
