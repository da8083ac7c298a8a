import { type Net, NetError, type NetRequest } from "../../../engines/net/net.ts";
import { foreignContent } from "../../../kernel/foreign-text.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { noSearchProvider, type SearchProvider, searchSettings, type ToolInfo } from "../../agents/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import { hiding } from "../../tool-servers/index.ts";
import { isOwnersOwnRun, type RunScope, type RunTool, type ToolCallRequest, type ToolOutcome } from "./run-tool.ts";
import { failedWith } from "./tool-failure.ts";

const braveUrl = "https://api.search.brave.com/res/v1/web/search";
const tavilyUrl = "https://api.tavily.com/search";
const limitMs = 20_000;
/** 2 MB. */
const maxBytes = 2_097_152;
const defaultCount = 5;
const longest = { title: 200, address: 2000, excerpt: 600 };

/** Where searches go. The addresses of Brave and Tavily differ in tests only. */
export interface SearchWays {
  /** May reach the operator's server, which may be private. */
  net: Pick<Net, "request">;
  searxngUrl?: string | undefined;
  braveUrl?: string;
  tavilyUrl?: string;
}

export interface WebSearchDeps {
  net: Pick<Net, "request">;
  secrets: Pick<Secrets, "reveal">;
  search: SearchWays;
}

interface Found {
  title: string;
  address: string;
  excerpt: string;
}

interface Query {
  query: string;
  count: number;
  key: string;
}

interface Protocol {
  request(base: string, query: Query): NetRequest;
  /** The list of results in the answer. */
  results(answer: Record<string, unknown>): unknown;
  /** Its field of the excerpt. */
  excerpt: string;
  refused: string;
}

const keyRefused = "The search provider refused the API key. Its owner checks the stored secret.";

const protocols: Readonly<Record<SearchProvider, Protocol>> = {
  searxng: {
    request(base, { query }) {
      const url = new URL(base);
      url.pathname = `${url.pathname.replace(/\/(search)?$/, "")}/search`;
      url.search = new URLSearchParams({ q: query, format: "json" }).toString();
      return { url, headers: { accept: "application/json" } };
    },
    results: ({ results }) => results,
    excerpt: "content",
    refused:
      "The SearXNG server refused the search. Its settings must allow JSON: add json to search.formats in settings.yml.",
  },
  brave: {
    request(base, { query, count, key }) {
      const url = new URL(base);
      url.search = new URLSearchParams({ q: query, count: String(count) }).toString();
      return { url, headers: { accept: "application/json", "x-subscription-token": key } };
    },
    results: ({ web }) => (isRecord(web) ? web.results : []),
    excerpt: "description",
    refused: keyRefused,
  },
  tavily: {
    request: (base, { query, count, key }) => ({
      method: "POST",
      url: base,
      headers: { accept: "application/json", "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: ({ results }) => results,
    excerpt: "content",
    refused: keyRefused,
  },
};

/** Searches with the provider and the key of the agent's creator, also for other callers. */
export function webSearchTool(info: ToolInfo, deps: WebSearchDeps, scope: RunScope): RunTool {
  return {
    name: info.id,
    description: info.description,
    parameters: info.parameters,
    settings: Object.keys(info.settings?.properties ?? {}),
    kind: info.kind,
    asks: false,
    execute: (call) => search(deps, scope, call),
  };
}

async function search(deps: WebSearchDeps, scope: RunScope, call: ToolCallRequest): Promise<ToolOutcome> {
  const { provider, secret, url } = searchSettings(scope.snapshot.tools);
  const way = wayTo(deps, provider, url);
  if (!way)
    return failedWith(
      isOwnersOwnRun(scope) ? noSearchProvider : "The search is not set up. The agent's creator can fix it.",
    );
  const key = secret === undefined ? "" : await deps.secrets.reveal(scope.ownerId, secret);
  if (key === undefined || (provider !== "searxng" && key === "")) return failedWith(missingKey(scope, secret));
  const { mask } = hiding(key);
  const query = { query: String(call.arguments.query), count: Number(call.arguments.count ?? defaultCount), key };
  try {
    const answer = await ask(way.net, protocols[provider], protocols[provider].request(way.base, query), call.signal);
    if ("refusal" in answer) return failedWith(answer.refusal);
    const found = read(answer.results, protocols[provider].excerpt).slice(0, query.count);
    if (found.length === 0) return { text: "The search found nothing.", isError: false };
    return { text: mask(foreignContent("Results of a web search", found.map(shown).join("\n\n"))), isError: false };
  } catch (error) {
    call.signal.throwIfAborted();
    if (!(error instanceof NetError)) throw error;
    // Only the creator may know the address of the creator's server.
    const isKnown = url !== undefined && isOwnersOwnRun(scope);
    const why = isKnown ? error.message : "The search provider cannot be reached";
    return failedWith(`The search failed. ${mask(why)}. Try again later.`);
  }
}

function wayTo(
  { net, search: ways }: WebSearchDeps,
  provider: SearchProvider,
  url: string | undefined,
): { net: Pick<Net, "request">; base: string } | undefined {
  if (provider === "brave") return { net, base: ways.braveUrl ?? braveUrl };
  if (provider === "tavily") return { net, base: ways.tavilyUrl ?? tavilyUrl };
  if (url !== undefined) return { net, base: url };
  return ways.searxngUrl === undefined ? undefined : { net: ways.net, base: ways.searxngUrl };
}

function missingKey(scope: RunScope, secret: string | undefined): string {
  if (!isOwnersOwnRun(scope)) return "The search was not made: the agent's creator has not stored the API key.";
  if (secret === undefined) return "The search was not made: its binding names no secret with the API key.";
  return `The search was not made: the secret ${secret} is not stored. Store it with PUT /api/v2/secrets/${secret}.`;
}

async function ask(
  net: Pick<Net, "request">,
  { results, refused }: Protocol,
  request: NetRequest,
  signal: AbortSignal,
): Promise<{ results: unknown } | { refusal: string }> {
  const bounds = { totalMs: limitMs, headersMs: limitMs, idleMs: limitMs, maxBytes };
  const headers = { "user-agent": "gantry", ...request.headers };
  const { status, body } = await net.request({ ...request, headers, signal, bounds });
  if (status !== 200) {
    await body.dump();
    return { refusal: refusalOf(status, refused) };
  }
  const answer = await body.json().catch((error: unknown) => {
    if (error instanceof NetError) throw error;
    return undefined;
  });
  if (!isRecord(answer)) return { refusal: "The search provider's answer is not JSON. Check its address." };
  return { results: results(answer) };
}

function refusalOf(status: number, refused: string): string {
  if (status === 401 || status === 403) return refused;
  if (status === 429) return "The search provider allows no more searches now. Try again later.";
  return `The search provider answered with status ${status}.`;
}

function read(results: unknown, field: string): Found[] {
  if (!Array.isArray(results)) return [];
  return results.flatMap((one): Found[] => {
    if (!isRecord(one)) return [];
    const address = URL.parse(typeof one.url === "string" ? one.url : "");
    if (!address || !/^https?:$/.test(address.protocol)) return [];
    return [
      {
        title: line(one.title, longest.title) || address.host,
        address: address.href.slice(0, longest.address),
        excerpt: line(one[field], longest.excerpt),
      },
    ];
  });
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
};

/** Excerpts may mark the words of the query with elements. */
function line(value: unknown, most: number): string {
  if (typeof value !== "string") return "";
  const plain = value
    .slice(0, 10 * most)
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, "")
    .replace(/&(?:amp|lt|gt|quot|#39|#x27);/g, (entity) => entities[entity] ?? entity)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return plain.length <= most ? plain.toWellFormed() : `${plain.slice(0, most).toWellFormed()}…`;
}

function shown({ title, address, excerpt }: Found, at: number): string {
  return [`${at + 1}. ${title}`, `   ${address}`, ...(excerpt === "" ? [] : [`   ${excerpt}`])].join("\n");
}
