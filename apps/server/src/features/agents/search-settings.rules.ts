import { type AgentTool, secretNamePattern } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { asToolBinding, isAgentBinding } from "./binding.rules.ts";
import { bindingOf } from "./fixed-request.rules.ts";
import { type SearchProvider, searchProviders } from "./search-providers.ts";

/** Fixed values of a `web_search` binding. */
export interface SearchSettings {
  provider: SearchProvider;
  /** Name of the creator's stored secret: the key for the provider. */
  secret: string | undefined;
  /** Of a SearXNG server; undefined: the operator's. */
  url: string | undefined;
}

export function searchSettings(tools: readonly AgentTool[]): SearchSettings {
  const { provider, secret, url } = bindingOf(tools, "web_search").arguments ?? {};
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const known = searchProviders.find((one) => one === provider);
  return { provider: known ?? "searxng", secret: text(secret), url: text(url) };
}

export const noSearchProvider =
  "web_search has no provider. In the settings of the tool, choose brave or tavily with a stored secret, or enter the url of a SearXNG server. Or ask the operator to set GANTRY_SEARXNG_URL.";

/** Whether nothing says where to search. */
export function lacksProvider(tools: readonly AgentTool[], isSearxngSet: boolean): boolean {
  const isBound = tools.some((tool) => !isAgentBinding(tool) && asToolBinding(tool).id === "web_search");
  const { provider, url } = searchSettings(tools);
  return isBound && provider === "searxng" && url === undefined && !isSearxngSet;
}

/** Issues of the provider's secret and address. `stored` are the names of the owner's secrets. */
export function searchIssues(tools: readonly AgentTool[], stored: ReadonlySet<string>): Issue[] {
  const at = tools.findIndex((tool) => !isAgentBinding(tool) && asToolBinding(tool).id === "web_search");
  if (at === -1) return [];
  const { provider, secret, url } = searchSettings(tools);
  const issue = (name: string, msg: string): Issue => {
    return { type: "value_error", loc: ["body", "tools", at, "arguments", name], msg };
  };
  if (provider === "searxng") {
    if (secret !== undefined)
      return [issue("secret", "searxng takes no secret. Use brave or tavily, or leave it out.")];
    const isWeb = url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? "");
    return isWeb ? [] : [issue("url", "Must be the http or https address of a SearXNG server")];
  }
  const issues = url === undefined ? [] : [issue("url", `Only searxng takes a url; ${provider} does not`)];
  if (secret === undefined) {
    issues.push(issue("secret", `${provider} needs the name of a stored secret with your API key`));
  } else if (!stored.has(secret)) {
    const isName = secretNamePattern.test(secret);
    const advice = isName ? ` Store it with PUT /api/v2/secrets/${secret}` : "";
    issues.push(issue("secret", `Secret ${JSON.stringify(secret.slice(0, 100))} is not stored.${advice}`));
  }
  return issues;
}
