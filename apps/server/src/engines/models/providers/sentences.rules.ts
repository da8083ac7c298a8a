import type { ProviderType } from "@gantry/wire";
import { addressEndOf } from "./address.rules.ts";
import { labelOf } from "./connection.ts";
import { ProviderFailure, type ProviderFailureReason } from "./provider-failure.ts";

export interface FailureContext {
  type: ProviderType;
  /** Where the call went. */
  url: string;
  hasKey: boolean;
  status?: number | undefined;
  model?: string | undefined;
  /** What the net says about a refused address or its proxy. */
  detail?: string | undefined;
  /** The kind of server that answered, if it is known. */
  found?: ProviderType | undefined;
}

/** How to start a server on this machine. */
const startHints: Partial<Record<ProviderType, string>> = {
  ollama: "Is Ollama running? Start it with `ollama serve`.",
  lmstudio: "Is its server running? Start it with `lms server start`.",
  llamacpp: "Is it running? Start it with `llama-server -m MODEL.gguf`.",
  vllm: "Is it running? Start it with `vllm serve MODEL`.",
  sglang: "Is it running? Start it with `python -m sglang.launch_server --model-path MODEL`.",
  comfyui: "Is it running? Start it with `python main.py`.",
  cog: "Is the container running?",
};

const modelHints: Partial<Record<ProviderType, string>> = {
  ollama: "Pull one with `ollama pull llama3.2`.",
  lmstudio: "Download one with `lms get`.",
  llamacpp: "Start it with a model: `llama-server -m MODEL.gguf`.",
  azure: "Deploy a model in the Azure portal.",
  "azure-deployments": "Deploy a model in the Azure portal.",
};

/** Why a type has nothing to list, and what to do instead. */
const listHints: Partial<Record<ProviderType, string>> = {
  azure: "Add a model with the name of the deployment as `model` of its backend.",
  "azure-deployments": "Add a model with the name of the deployment as `model` of its backend.",
  comfyui: "Create a model with a workflow in its manifest.",
  cog: "Create its one model with a manifest.",
};

type Sentence = (context: FailureContext, label: string) => string;

const sentences: Record<ProviderFailureReason, Sentence> = {
  invalid_url: ({ url }) =>
    url === ""
      ? "The address is missing. Enter the address of the server."
      : "The address is not valid. Enter an http or https address without user name and password.",
  address_refused: ({ detail = "" }) => `${detail}.`,
  unknown_host: ({ url }) => `The name ${hostOf(url)} does not exist. Check the address.`,
  connection_refused: ({ type, url }) => `Nothing listens at ${originOf(url)}. ${startHint(type)}`,
  unreachable: ({ type, url }) => `${hostOf(url)} cannot be reached. ${startHint(type)}`,
  proxy: ({ detail = "" }) => `${detail}. The operator can check HTTPS_PROXY and HTTP_PROXY.`,
  tls: ({ url }) =>
    `No trusted TLS connection to ${hostOf(url)}. Check its certificate, or use http:// if it has no TLS. The operator can trust a certificate authority with GANTRY_EXTRA_CA.`,
  timeout: ({ url }, label) =>
    `${label} did not answer in time. Check that ${originOf(url)} is the right address, and try again.`,
  cut: (_, label) => `${label} ended the connection before its answer was complete. Try again.`,
  too_large: (_, label) => `${label} lists more models than Gantry reads. Create the model with a manifest instead.`,
  redirect: ({ url }, label) =>
    `${label} redirects to another address. ${url.startsWith("http:") ? "Use https:// instead of http://, or enter" : "Enter"} the address that it redirects to.`,
  key_missing: ({ status }, label) =>
    `${label} requires a key${statusOf(status)}. Store the key as a secret and name it.`,
  key_refused: ({ status }, label) => `${label} refused the key${statusOf(status)}. Check the key.`,
  not_allowed: ({ status }, label) =>
    `${label} refused access${statusOf(status)}. Check the key and what it is allowed to do.`,
  not_found: notFound,
  unknown_model: ({ model = "", status }, label) =>
    `${label} does not have the model "${model}"${statusOf(status)}. Choose one of the listed models.`,
  limit_reached: (_, label) => `${label} stopped at the output limit. Try again.`,
  busy: ({ status }, label) =>
    `${label} refuses calls for now${statusOf(status)}. Check its quota, or try again later.`,
  starting: ({ status }, label) => `${label} is still loading its model${statusOf(status)}. Try again in a minute.`,
  failed: ({ status }, label) => `${label} failed${statusOf(status)}. Try again, or read its log.`,
  refused: ({ status, model }, label) =>
    model === undefined
      ? `${label} refused the request${statusOf(status)}. Check the address and the type.`
      : `${label} refused a chat with "${model}"${statusOf(status)}. Choose a chat model.`,
  web_page: ({ type, url }, label) =>
    `A web page answered at ${originOf(url)}, not ${inSentence(label)}. Enter the address of the API.${endHint(type)}`,
  not_json: ({ type, url }, label) =>
    `The answer of ${originOf(url)} is not JSON. Check that the address is that of ${inSentence(label)}.${endHint(type)}`,
  not_a_list: ({ type, url }, label) =>
    `The answer of ${originOf(url)} is not a list of models. Check that the address is that of ${inSentence(label)}.${endHint(type)}`,
  other_server: ({ found }, label) =>
    found === undefined
      ? `The server does not answer as ${inSentence(label)} does. Choose the type "Other OpenAI-compatible server" if it has that API.`
      : `The server is ${labelOf(found)}, not ${inSentence(label)}. Choose the type ${labelOf(found)}.`,
  nothing_to_list: ({ type }, label) => `${label} does not list models. ${listHints[type] ?? ""}`.trim(),
  no_models: ({ type }, label) => `${label} has no models that Gantry can call. ${modelHints[type] ?? ""}`.trim(),
};

export function failure(
  reason: ProviderFailureReason,
  context: FailureContext,
  options?: { cause?: unknown },
): ProviderFailure {
  return new ProviderFailure(reason, sentences[reason](context, labelOf(context.type)), options);
}

function notFound({ type, url, status }: FailureContext, label: string): string {
  if (type === "bedrock" && hostOf(url).startsWith("bedrock-runtime")) {
    return `${label} has no list of models at ${originOf(url)}${statusOf(status)}. Check the region.`;
  }
  const end = addressEndOf(type);
  const advice = end === "" || urlEndsWith(url, end) ? "Check the address." : `The address must end with ${end}.`;
  return `${label} has no list of models at this address${statusOf(status)}. ${advice}`;
}

function urlEndsWith(url: string, end: string): boolean {
  return URL.parse(url)?.pathname.includes(`${end}/`) ?? false;
}

function endHint(type: ProviderType): string {
  const end = addressEndOf(type);
  return end === "" ? "" : ` The address usually ends with ${end}.`;
}

function startHint(type: ProviderType): string {
  return startHints[type] ?? "Check the address and that this machine can reach it.";
}

function statusOf(status: number | undefined): string {
  return status === undefined ? "" : ` (status ${status})`;
}

function inSentence(label: string): string {
  return label === "The server" ? "an OpenAI-compatible server" : label;
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the server";
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? "the address";
}
