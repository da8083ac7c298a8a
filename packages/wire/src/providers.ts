import { z } from "zod";
import { type BackendType, baseUrl } from "./backend-schema.ts";
import { oneOf } from "./field-schema.ts";
import { modelKinds } from "./manifest-schema.ts";
import { modelNamePattern } from "./names.ts";
import { pricingSchema } from "./pricing-schema.ts";
import { type ProviderType, providerTypes } from "./provider-types.ts";
import { headerTexts, queryTexts, secretName } from "./secret-texts.ts";

export const providerNamePattern = /^[a-z0-9][a-z0-9._-]{0,39}$/;

const types = Object.keys(providerTypes) as [ProviderType, ...ProviderType[]];

export const putProviderBody = z.strictObject({
  type: oneOf(types).describe("The kind of server."),
  url: baseUrl.optional().describe("The address. Default: that of the vendor, or the usual one on this machine."),
  secret: secretName.optional().describe("The name of a stored secret: the key of the server."),
  headers: headerTexts.optional().describe("Headers of every call. `{{secret:name}}` stands for a stored secret."),
  query: queryTexts.optional().describe("Query parameters of every call, with secrets as in `headers`."),
});
export type PutProviderBody = z.infer<typeof putProviderBody>;

export const providerSources = ["saved", "environment", "found"] as const;
export type ProviderSource = (typeof providerSources)[number];

export const providerRecord = z.object({
  name: z.string(),
  owner: z.string().describe("Your username, or `gantry` for a provider of the operator."),
  type: z.enum(types),
  source: z
    .enum(providerSources)
    .describe(
      "`environment`: from a key in the server's environment. `found`: found on the server's machine at start.",
    ),
  url: z.string().nullable().describe("Null if it is the default of the type, or the provider is the operator's."),
  secret: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  query: z.record(z.string(), z.string()),
  models: z.int().describe("Models that were imported from it and still exist."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ProviderRecord = z.infer<typeof providerRecord>;

export const modalities = ["text", "image", "audio", "video", "file", "embedding"] as const;

/** What an upstream says about one of its models. Null where it says nothing. */
export const upstreamModel = z.object({
  id: z.string().describe("The name at the upstream."),
  title: z.string(),
  description: z.string(),
  kind: z.enum(modelKinds),
  context_window: z.int().nullable(),
  max_output_tokens: z.int().nullable(),
  model_size_in_billions: z.number().nullable(),
  input_modalities: z.array(z.enum(modalities)),
  output_modalities: z.array(z.enum(modalities)),
  tools: z.boolean().nullable().describe("Whether it can call tools."),
  pricing: pricingSchema.nullable().describe("Prices that the upstream states, in dollars."),
});
export type UpstreamModel = z.infer<typeof upstreamModel>;

export const discoveredModel = upstreamModel.extend({
  name: z.string().describe("The name that the model would get."),
  imported: z.string().nullable().describe("The endpoint id, if it was imported from this provider."),
});
export type DiscoveredModel = z.infer<typeof discoveredModel>;

export const discoveryRecord = z.object({ models: z.array(discoveredModel) });
export type DiscoveryRecord = z.infer<typeof discoveryRecord>;

const mostImported = 200;

const importChoice = z.strictObject({
  id: z.string().min(1).max(200).describe("The name at the upstream."),
  name: z
    .string()
    .regex(modelNamePattern, "Must have 1 to 63 characters of a-z, 0-9, ., _ and -")
    .optional()
    .describe("The model's name. Default: the upstream's, in lower case, with - for other characters."),
  title: z.string().min(1).max(200).optional(),
  pricing: pricingSchema.optional().describe("Default: what the upstream states; free for a self-hosted server."),
  visibility: oneOf(["public", "private"])
    .optional()
    .describe("Default: private, or public for a provider of the operator."),
  capacity: z.int().min(0).max(100_000).optional(),
});
export type ImportChoice = z.infer<typeof importChoice>;

export const importBody = z.strictObject({
  models: z
    .array(importChoice)
    .min(1)
    .max(mostImported)
    .optional()
    .describe("The models to import. Without it, all models that were imported before are updated."),
});
export type ImportBody = z.infer<typeof importBody>;

export const importOutcomes = ["created", "updated", "unchanged", "gone", "failed"] as const;

const importResult = z.object({
  id: z.string(),
  endpoint_id: z.string().nullable(),
  outcome: z.enum(importOutcomes).describe("`gone`: the upstream no longer serves it. The model stays."),
  kept: z.array(z.string()).describe("Fields that were edited since the last import and stay."),
  message: z.string().nullable().describe("What is wrong, if it failed."),
});
export type ImportResult = z.infer<typeof importResult>;

export const importRecord = z.object({ results: z.array(importResult) });
export type ImportRecord = z.infer<typeof importRecord>;

export const testProviderBody = z.strictObject({
  model: z.string().min(1).max(200).optional().describe("A model at the upstream. Default: the first one."),
});

export const providerTestRecord = z.object({
  ok: z.boolean(),
  message: z.string().describe("What was seen, or what is wrong and what to do."),
  latency_ms: z.number().nullable(),
});
export type ProviderTestRecord = z.infer<typeof providerTestRecord>;

/** How a model of a provider is called. */
export interface UpstreamBackend {
  type: BackendType;
  url?: string;
  model?: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  [setting: string]: unknown;
}
