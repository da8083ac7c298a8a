import { jsonReply, type Seen } from "../scripted-server.ts";
import { bearerKey, headerKey, messagesAnswer, openAiRoutes, type ProviderScript, queryOf } from "./provider-server.ts";

const azureRefusal = jsonReply(
  {
    error: {
      code: "401",
      message: "Access denied due to invalid subscription key or wrong API endpoint.",
    },
  },
  401,
);
const azureUnknown = () => jsonReply({ error: { code: "404", message: "Resource not found" } }, 404);

const deployment = (id: string, model: string, status = "succeeded") => ({
  scale_settings: { scale_type: "standard" },
  model,
  owner: "organization-owner",
  id,
  status,
  created_at: 1681171441,
  updated_at: 1681171441,
  object: "deployment",
});

/** Later versions than this one do not have the route. */
const deployments = (seen: Seen) =>
  queryOf(seen).get("api-version") === "2023-03-15-preview"
    ? {
        data: [
          deployment("chat-prod", "gpt-4o"),
          deployment("gpt-4.1-mini", "gpt-4.1-mini"),
          deployment("vectors", "text-embedding-3-large"),
          deployment("pictures", "dall-e-3"),
          deployment("voice", "whisper"),
          deployment("broken", "gpt-4o", "failed"),
        ],
        object: "list",
      }
    : azureUnknown();

const azureModels = {
  data: [
    {
      status: "succeeded",
      capabilities: { fine_tune: false, inference: true, completion: true, chat_completion: true, embeddings: false },
      lifecycle_status: "generally-available",
      deprecation: { inference: 1791763200 },
      id: "gpt-4o-2024-11-20",
      created_at: 1732060800,
      object: "model",
    },
  ],
  object: "list",
};

/** A key is accepted in both headers. */
export const azure: ProviderScript = {
  type: "azure",
  address: "/openai/v1",
  keyHeaders: [headerKey("api-key"), bearerKey],
  refusal: azureRefusal,
  routes: {
    "GET /openai/deployments": deployments,
    "GET /openai/v1/models": () => azureModels,
    ...openAiRoutes("/openai/v1"),
  },
  unknown: azureUnknown,
};

const withVersion = (seen: Seen, answer: unknown) =>
  queryOf(seen).get("api-version") === null ? azureUnknown() : answer;

/** Each route needs a version. */
function deploymentRoutes(...names: string[]): ProviderScript["routes"] {
  const routes = names.flatMap((name) => Object.entries(openAiRoutes(`/openai/deployments/${name}`)));
  return Object.fromEntries(routes.map(([route, answer]) => [route, (seen) => withVersion(seen, answer(seen))]));
}

export const azureDeployments: ProviderScript = {
  type: "azure-deployments",
  address: "",
  keyHeaders: [headerKey("api-key")],
  refusal: azureRefusal,
  routes: {
    "GET /openai/deployments": deployments,
    "GET /openai/models": (seen) => withVersion(seen, azureModels),
    ...deploymentRoutes("chat-prod", "gpt-4.1-mini", "vectors", "pictures"),
    "POST /openai/deployments/missing/chat/completions": () =>
      jsonReply(
        { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } },
        404,
      ),
  },
  unknown: azureUnknown,
};

const bedrockEntry = (id: string) => ({ id, object: "model", created: 1763400000, owned_by: "system" });

/** The address that lists models as OpenAI does. */
export const bedrock: ProviderScript = {
  type: "bedrock",
  address: "/v1",
  keyHeaders: [bearerKey, headerKey("x-api-key")],
  refusal: jsonReply(
    { error: { code: "invalid_api_key", message: "Invalid bearer token", type: "invalid_request_error" } },
    401,
  ),
  routes: {
    "GET /v1/models": () => ({
      object: "list",
      data: [
        bedrockEntry("openai.gpt-oss-120b"),
        bedrockEntry("openai.gpt-5.5"),
        bedrockEntry("anthropic.claude-opus-4-8"),
        bedrockEntry("google.gemma-4-31b"),
        bedrockEntry("openai.gpt-oss-safeguard-120b"),
      ],
    }),
    ...openAiRoutes("/v1"),
    ...openAiRoutes("/openai/v1"),
    "POST /anthropic/v1/messages": (seen) =>
      seen.headers["x-api-key"] === undefined || seen.headers["anthropic-version"] === undefined
        ? jsonReply({ type: "error", error: { type: "authentication_error", message: "no key" } }, 401)
        : messagesAnswer(seen),
  },
};

const foundationModel = (modelId: string, providerName: string, more: object = {}) => ({
  modelArn: `arn:aws:bedrock:us-east-1::foundation-model/${modelId}`,
  modelId,
  modelName: modelId.split(".")[1],
  providerName,
  inputModalities: ["TEXT"],
  outputModalities: ["TEXT"],
  responseStreamingSupported: true,
  customizationsSupported: [],
  inferenceTypesSupported: ["ON_DEMAND"],
  modelLifecycle: { status: "ACTIVE" },
  ...more,
});

const profile = (id: string, model: string) => ({
  inferenceProfileName: id,
  inferenceProfileId: id,
  inferenceProfileArn: `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${id}`,
  models: [
    { modelArn: `arn:aws:bedrock:us-east-1::foundation-model/${model}` },
    { modelArn: `arn:aws:bedrock:us-west-2::foundation-model/${model}` },
  ],
  status: "ACTIVE",
  type: "SYSTEM_DEFINED",
});

/** AWS's own API, which lists the models of the other address. */
export const bedrockControl: ProviderScript = {
  type: "bedrock",
  address: "",
  keyHeaders: [bearerKey],
  refusal: jsonReply({ Message: "Authentication failed: Please make sure your API Key is valid." }, 403),
  routes: {
    "GET /foundation-models": () => ({
      modelSummaries: [
        foundationModel("amazon.nova-pro-v1:0", "Amazon"),
        foundationModel("anthropic.claude-sonnet-4-5-20250929-v1:0", "Anthropic", {
          modelName: "Claude Sonnet 4.5",
          inputModalities: ["TEXT", "IMAGE"],
          inferenceTypesSupported: ["INFERENCE_PROFILE"],
        }),
        foundationModel("anthropic.claude-v2", "Anthropic", { modelLifecycle: { status: "LEGACY" } }),
        foundationModel("openai.gpt-oss-120b-1:0", "OpenAI", { modelName: "gpt-oss-120b" }),
        foundationModel("qwen.qwen3-32b-v1:0", "Qwen", { inferenceTypesSupported: ["INFERENCE_PROFILE"] }),
      ],
    }),
    "GET /inference-profiles": (seen) =>
      queryOf(seen).get("nextToken") === null
        ? {
            inferenceProfileSummaries: [
              profile("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
            ],
            nextToken: "more",
          }
        : {
            inferenceProfileSummaries: [
              profile("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
            ],
          },
  },
};
