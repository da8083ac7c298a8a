import { type AgentTool, secretNamePattern, type ToolBinding } from "@gantry/wire";
import type { Issue } from "../../kernel/errors.ts";
import { asToolBinding, isAgentBinding } from "./binding.rules.ts";

/** Fixed values of an `http_request` binding, and the origin that requests are limited to. */
export interface FixedRequest {
  /** Undefined: any public address. */
  origin: string | undefined;
  /** Whether requests carry headers or a body from the agent's creator. */
  carriesValues: boolean;
  headers: Readonly<Record<string, string>>;
}

export function fixedRequest({ origin, arguments: fixed = {} }: ToolBinding): FixedRequest {
  const { url, headers, body } = fixed;
  const named = Object.entries(typeof headers === "object" && headers !== null ? headers : {});
  return {
    origin: origin ?? (typeof url === "string" ? originOf(url) : undefined),
    carriesValues: named.length > 0 || (typeof body === "string" && body !== ""),
    headers: Object.fromEntries(named.map(([name, value]) => [name, String(value)])),
  };
}

/** The binding of a tool; empty for a tool without settings. */
export function bindingOf(tools: readonly AgentTool[], id: string): ToolBinding {
  const found = tools.find((tool) => !isAgentBinding(tool) && asToolBinding(tool).id === id);
  return found === undefined || isAgentBinding(found) ? { type: "tool", id } : asToolBinding(found);
}

export function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

const reference = /\{\{\s*secret:([^{}]*?)\s*\}\}/g;

/** The names of the stored secrets that a header value refers to as `{{secret:name}}`. */
export function secretNames(value: string): string[] {
  return [...value.matchAll(reference)].map(([, name = ""]) => name);
}

export function withSecrets(value: string, secrets: ReadonlyMap<string, string>): string {
  return value.replaceAll(reference, (_, name: string) => secrets.get(name) ?? "");
}

/** The stored secrets that the bindings of an agent refer to. */
export function secretsNamedBy(tools: readonly AgentTool[]): string[] {
  const { headers } = fixedRequest(bindingOf(tools, "http_request"));
  const { secret } = bindingOf(tools, "web_search").arguments ?? {};
  const names = Object.values(headers).flatMap(secretNames);
  return [...new Set(typeof secret === "string" ? [...names, secret] : names)];
}

export const unboundRequest =
  "http_request sends fixed headers or a fixed body to any address that the model chooses. Set `origin` in the binding, such as https://api.example.com, or fix `url` in its arguments.";

export function isUnbound(tools: readonly AgentTool[]): boolean {
  const { origin, carriesValues } = fixedRequest(bindingOf(tools, "http_request"));
  return carriesValues && origin === undefined;
}

const credentialName = /^(proxy-)?authorization$|^cookie$|api-?key|token|secret|password|signature/i;

/** Names of fixed headers that look like credentials and are stored as plain text. */
export function literalCredentials(tools: readonly AgentTool[]): string[] {
  const { headers } = fixedRequest(bindingOf(tools, "http_request"));
  return Object.keys(headers).filter((name) => {
    return credentialName.test(name) && secretNames(headers[name] ?? "").length === 0;
  });
}

/** Issues of the origin and the secrets. `stored` are the names of the owner's secrets. */
export function fixedRequestIssues(tools: readonly AgentTool[], stored: ReadonlySet<string>): Issue[] {
  return tools.flatMap((tool, at): Issue[] => {
    if (isAgentBinding(tool)) return [];
    const binding = asToolBinding(tool);
    const loc = ["body", "tools", at];
    if (binding.id !== "http_request") {
      const msg = `Only http_request accepts an origin; ${binding.id} does not`;
      return binding.origin === undefined ? [] : [{ type: "value_error", loc: [...loc, "origin"], msg }];
    }
    const { headers } = fixedRequest(binding);
    const named = Object.entries(headers).flatMap(([header, value]) => {
      return secretNames(value).map((name) => ({ name, loc: [...loc, "arguments", "headers", header] }));
    });
    const issues: Issue[] = named.flatMap(({ name, loc: at }) => secretIssue(name, stored, at));
    const url = binding.arguments?.url;
    if (binding.origin !== undefined && typeof url === "string" && originOf(url) !== binding.origin) {
      const msg = `The fixed url is not at ${binding.origin}`;
      issues.push({ type: "value_error", loc: [...loc, "arguments", "url"], msg });
    }
    return issues;
  });
}

function secretIssue(name: string, stored: ReadonlySet<string>, loc: readonly (string | number)[]): Issue[] {
  if (stored.has(name)) return [];
  const msg = secretNamePattern.test(name)
    ? `Secret ${name} is not stored. Store it with PUT /api/v2/secrets/${name}`
    : "Write a reference to a stored secret as {{secret:name}}";
  return [{ type: "value_error", loc: [...loc], msg }];
}
