import { z } from "zod";
import { oneOf, tell } from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import { parseUrl } from "./parse-url.rules.ts";
import { headerTexts, queryTexts, secretName } from "./secret-texts.ts";

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
  /** The workflow takes the place of the model. */
  comfyui: {
    url: "required",
    model: "refused",
    secret: "optional",
    workflow: "required",
    inputs: "optional",
    outputs: "optional",
  },
} as const satisfies Record<string, Record<"url" | "model" | "secret", Need> & Partial<Record<WorkflowSetting, Need>>>;

export type BackendType = keyof typeof backendTypes;

type WorkflowSetting = "workflow" | "inputs" | "outputs";
const noWorkflow: Record<WorkflowSetting, Need> = { workflow: "refused", inputs: "refused", outputs: "refused" };

export function backendNeeds(type: BackendType): Record<string, Need> {
  return { ...noWorkflow, ...backendTypes[type] };
}

/** Protocols with messages and tools. Called as a model, they take a `prompt`. */
export const promptedBackends: ReadonlySet<unknown> = new Set<BackendType>([
  "builtin",
  "openai-chat",
  "anthropic",
  "google",
]);

const endpointId = /^[^/\s]+\/[^/\s]+$/;

/** The base URL: no query, fragment or credentials (use secrets). */
function isBase(text: string): boolean {
  const url = parseUrl(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "" && !text.includes("?") && !text.includes("#");
}

export const baseUrl = z
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

const target = z.string().min(1).max(300);

export const backendFields = {
  type: oneOf(Object.keys(backendTypes) as [BackendType, ...BackendType[]]).describe("The protocol."),
  url: baseUrl.optional().describe("The base URL; the server appends the protocol's path."),
  model: z.string().min(1).max(200).optional().describe("The name of the model at the backend."),
  secret: secretName.optional().describe("The name of a stored secret of the owner, see `PUT /api/v2/secrets/{name}`."),
  headers: headerTexts
    .optional()
    .describe("Headers of every call. `{{secret:name}}` stands for a stored secret of the owner."),
  query: queryTexts.optional().describe("Query parameters of every call, with secrets as in `headers`."),
  workflow: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("`comfyui` only: the workflow in ComfyUI's API format."),
  inputs: z
    .record(z.string(), z.union([target, z.array(target).min(1).max(50)]))
    .optional()
    .describe("`comfyui` only: for each input, the field of the workflow that it sets, as `node.field`, or a list."),
  outputs: z
    .record(z.string(), z.string().min(1).max(200))
    .optional()
    .describe("`comfyui` only: for each output, the id of its node. Default: files in the order of the nodes."),
};

/** Checks that depend on the type. */
export function checkBackend(backend: unknown, ctx: z.RefinementCtx<unknown>): void {
  if (!isRecord(backend) || typeof backend.type !== "string" || !Object.hasOwn(backendTypes, backend.type)) return;
  const needs = backendNeeds(backend.type as BackendType);
  const all = needs.url === "refused" ? { ...needs, headers: "refused", query: "refused" } : needs;
  for (const [name, need] of Object.entries(all)) {
    if (need === "required" && backend[name] === undefined) {
      ctx.addIssue({ code: "invalid_type", expected: "string", path: [name], message: "Field required" });
    } else if (need === "refused" && backend[name] !== undefined) {
      tell(ctx, [name], `A ${backend.type} backend has no ${name}`);
    }
  }
  if (backend.type === "gantry" && typeof backend.model === "string" && !endpointId.test(backend.model)) {
    tell(ctx, ["model"], "Must be the endpoint id of a model on that server: owner/name");
  }
}

export const backendSchema = z.strictObject(backendFields).superRefine(checkBackend, { when: () => true });
