import { z } from "zod";
import { oneOf, tell } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";

type Need = "required" | "optional" | "refused";

/** Backend protocols, and what a manifest must say about each. */
export const backendTypes = {
  /** A model inside the server, named by `model`. */
  builtin: { url: "refused", model: "required", secret: "refused" },
  "openai-chat": { url: "required", model: "required", secret: "optional" },
  "openai-images": { url: "required", model: "required", secret: "optional" },
  "openai-embeddings": { url: "required", model: "required", secret: "optional" },
  /** Without a url these two use the vendor's address. */
  anthropic: { url: "optional", model: "required", secret: "optional" },
  google: { url: "optional", model: "required", secret: "optional" },
  "ark-images": { url: "required", model: "required", secret: "optional" },
  /** A Cog server serves one model. */
  cog: { url: "required", model: "optional", secret: "optional" },
  /** Another Gantry server; `model` is an endpoint id there. */
  gantry: { url: "required", model: "required", secret: "optional" },
} as const satisfies Record<string, Record<"url" | "model" | "secret", Need>>;

export type BackendType = keyof typeof backendTypes;

/** Protocols with messages and tools. Called as a model, they take a `prompt`. */
export const promptedBackends: ReadonlySet<unknown> = new Set<BackendType>([
  "builtin",
  "openai-chat",
  "anthropic",
  "google",
]);

export const secretNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

const endpointId = /^[^/\s]+\/[^/\s]+$/;

/** The base URL: no query, fragment or credentials (use secrets). */
function isBase(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "" && !text.includes("?") && !text.includes("#");
}

const base = z
  .string()
  .max(2048)
  .superRefine((text, ctx) => {
    if (isBase(text)) return;
    ctx.addIssue({
      code: "invalid_format",
      format: "url",
      message: "Must be an http or https URL without user, query and fragment",
    });
  });

export const backendSchema = z
  .strictObject({
    type: oneOf(Object.keys(backendTypes) as [BackendType, ...BackendType[]]).describe("The protocol."),
    url: base.optional().describe("The base URL; the server appends the protocol's path."),
    model: z.string().min(1).max(200).optional().describe("The name of the model at the backend."),
    secret: z
      .string()
      .regex(secretNamePattern, "Must be the name of a stored secret: letters, digits, _, . and -, at most 63")
      .optional()
      .describe("The name of a stored secret of the owner, see `PUT /api/v2/secrets/{name}`."),
  })
  .superRefine(
    (backend: unknown, ctx) => {
      if (!isRecord(backend) || typeof backend.type !== "string" || !Object.hasOwn(backendTypes, backend.type)) return;
      const needs: Record<string, Need> = backendTypes[backend.type as BackendType];
      for (const [name, need] of Object.entries(needs)) {
        if (need === "required" && backend[name] === undefined) {
          ctx.addIssue({ code: "invalid_type", expected: "string", path: [name], message: "Field required" });
        } else if (need === "refused" && backend[name] !== undefined) {
          tell(ctx, [name], `A ${backend.type} backend has no ${name}`);
        }
      }
      if (backend.type === "gantry" && typeof backend.model === "string" && !endpointId.test(backend.model)) {
        tell(ctx, ["model"], "Must be the endpoint id of a model on that server: owner/name");
      }
    },
    { when: () => true },
  );
