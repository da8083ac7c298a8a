import type { ProviderType } from "@gantry/wire";
import { longestAddress } from "../../net/net.ts";

interface AddressForm {
  /** Follows the root in every call. */
  api: string;
  /** The part of it that belongs to the address that people see and store. */
  shown: string;
  /** Ends that lead from a pasted address to the root. */
  versions: RegExp;
}

const v1 = /\/v1$/;
const plain: AddressForm = { api: "/v1", shown: "/v1", versions: v1 };
/** These servers have routes beside `/v1`, and people know their address without it. */
const besideV1: AddressForm = { api: "/v1", shown: "", versions: v1 };
const underOpenAi: AddressForm = { api: "/openai/v1", shown: "/openai/v1", versions: /\/openai(?:\/v1)?$/ };

const forms: Record<ProviderType, AddressForm> = {
  openai: plain,
  anthropic: besideV1,
  gemini: { api: "/v1beta", shown: "/v1beta", versions: /\/v1(?:beta|alpha)?$/ },
  openrouter: { api: "/api/v1", shown: "/api/v1", versions: /\/api\/v1$/ },
  groq: underOpenAi,
  together: plain,
  deepseek: plain,
  mistral: plain,
  azure: underOpenAi,
  "azure-deployments": { ...underOpenAi, api: "", shown: "" },
  bedrock: { ...underOpenAi, versions: /\/(?:(?:openai|anthropic)(?:\/v1)?|v1)$/ },
  ollama: { ...besideV1, versions: /\/(?:api|v1)$/ },
  lmstudio: { ...besideV1, versions: /\/(?:api\/v\d|v1)$/ },
  llamacpp: besideV1,
  vllm: besideV1,
  sglang: besideV1,
  "openai-compatible": plain,
  comfyui: { api: "", shown: "", versions: /\/api$/ },
  cog: { api: "", shown: "", versions: /\/$/ },
};

/** Routes that people paste together with the address. */
const routes =
  /\/(?:chat\/completions|completions|responses|embeddings|images\/(?:generations|edits)|messages(?:\/count_tokens)?|models(?:\/[^/]+:[a-zA-Z]+)?|predictions|health(?:-check)?|prompt|system_stats|api\/(?:tags|chat|generate|show|embed|ps|version)|api\/v\d\/(?:models|chat))$/;
const deployments = /\/openai\/deployments(?:\/.*)?$/;
/** A Foundry project; its models are called at the resource. */
const foundryProject = /\/api\/projects\/[^/]+$/;
/** Google's imitation of OpenAI's protocol. Its own is one level up. */
const imitation = /\/v1beta\/openai$/;

export interface ReadAddress {
  url: string;
  /** Of a pasted address, such as Azure's `api-version`. */
  query: Record<string, string>;
}

/** Undefined if the text is not an address. */
export function readAddress(type: ProviderType, text: string): ReadAddress | undefined {
  if (text.length > longestAddress) return undefined;
  const url = URL.parse(withScheme(text.trim().replace(/^["'<]|["'>]$/g, "")));
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  if (url.hostname === "" || url.username !== "" || url.password !== "") return undefined;
  const version = url.searchParams.get("api-version");
  return {
    url: url.origin + pathOf(type, url.pathname),
    query: type === "azure-deployments" && version !== null ? { "api-version": version } : {},
  };
}

/** People paste addresses with or without `/v1`, with a slash at the end, or with a whole route. Other texts stay. */
export function normalizeUrl(type: ProviderType, text: string): string {
  return readAddress(type, text)?.url ?? text.trim();
}

export interface ApiAddress {
  /** Base of the protocol's routes. */
  api: string;
  /** Base of the server's own routes. */
  root: string;
}

export function apiAddressOf(type: ProviderType, url: string): ApiAddress {
  const { api, shown, versions } = forms[type];
  const base = normalizeUrl(type, url);
  const root = base.replace(versions, "");
  return { api: shown === "" ? root + api : base, root };
}

/** The end that addresses of this type must have, for advice. */
export function addressEndOf(type: ProviderType): string {
  return forms[type].shown;
}

function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const host = /^\[[^\]]*\]|^[^/:?#]*/.exec(text)?.[0] ?? "";
  const isLocal = !host.includes(".") || /^[\d.]+$/.test(host) || /\.(?:local|lan|internal|home)$/i.test(host);
  return `${isLocal ? "http" : "https"}://${text}`;
}

function pathOf(type: ProviderType, pathname: string): string {
  const { shown, versions } = forms[type];
  const path = pathname
    .replace(/\/+/g, "/")
    .replace(/\/$/, "")
    .replace(foundryProject, "")
    .replace(deployments, "")
    .replace(routes, "")
    .replace(imitation, "/v1beta");
  if (shown === "") return path.replace(versions, "");
  // A gateway may have a path of its own.
  return shown.startsWith(path) ? shown : path;
}
