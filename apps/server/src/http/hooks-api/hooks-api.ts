import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Trigger, Triggers } from "../../features/triggers/index.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { useAgentsDialect } from "../agents-api/agents-dialect.ts";
import { createHookBody } from "./hook-body.ts";

export interface HooksApiDeps {
  log: Log;
  triggers: Triggers;
}

const maxBytes = 1_048_576;

interface HookParams {
  trigger_id: string;
  secret: string;
}

/** The addresses of triggers. The secret in the path is the permission, so no part of the path is logged. */
export async function hooksApi(app: FastifyInstance, { log, triggers }: HooksApiDeps): Promise<void> {
  await app.register(
    async (hooks) => {
      useAgentsDialect(hooks, log);
      const readBody = createHookBody(hooks);
      const found = new WeakMap<FastifyRequest, Trigger>();
      // Signatures cover the bytes, whatever their type.
      hooks.removeAllContentTypeParsers();
      hooks.addContentTypeParser<Buffer>("*", { parseAs: "buffer", bodyLimit: maxBytes }, (_request, bytes, done) =>
        done(null, bytes),
      );

      hooks.post<{ Params: HookParams }>("/:trigger_id/:secret", {
        bodyLimit: maxBytes,
        // Before the body is read: a wrong address costs one lookup.
        async onRequest(request) {
          const { trigger_id, secret } = request.params;
          found.set(request, await triggers.findByAddress(trigger_id, secret));
          const encoding = request.headers["content-encoding"];
          if (encoding !== undefined && encoding !== "identity") {
            const msg = "Compressed bodies are not accepted. Send the body without Content-Encoding.";
            throw fault("value_error", msg, { loc: ["header", "content-encoding"] });
          }
        },
        async handler(request, reply) {
          const trigger = found.get(request);
          if (!trigger) throw new Error("a hook without its trigger");
          const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
          const { runId, isDuplicate } = await triggers.receive(trigger, {
            headers: request.headers,
            query: { ...(request.query as object) },
            bytes,
            readBody: () => readBody(request, bytes),
            baseUrl: request.baseUrl,
          });
          return reply.code(202).send({ run_id: runId, duplicate: isDuplicate });
        },
      });
    },
    { prefix: "/hooks" },
  );
}
