import { isRecord } from "../../../kernel/is-record.ts";
import { type Net, NetError, type NetHeaders, type NetRequest } from "../../net/net.ts";
import { quote } from "../failures.ts";
import { OAuthError } from "./oauth.ts";

const requestMs = 10_000;
const longestDocument = 256 * 1024;
const bounds = { totalMs: requestMs, headersMs: requestMs, idleMs: requestMs, maxBytes: longestDocument };

export interface OAuthAnswer {
  status: number;
  headers: NetHeaders;
  /** Undefined if the body is not a JSON object. */
  json: Record<string, unknown> | undefined;
}

/** One exchange with a bounded JSON answer. Redirects are answers like others. */
export async function send(net: Pick<Net, "request">, request: NetRequest): Promise<OAuthAnswer> {
  const headers = { accept: "application/json", "user-agent": "gantry", ...request.headers };
  try {
    const { status, headers: received, body } = await net.request({ ...request, headers, bounds });
    return { status, headers: received, json: parsed(await body.text()) };
  } catch (error) {
    throw toOAuthError(error, request.url);
  }
}

/** The headers of an answer, whatever follows them. */
export async function sendForHeaders(
  net: Pick<Net, "request">,
  request: NetRequest,
): Promise<Omit<OAuthAnswer, "json">> {
  try {
    const { status, headers, body } = await net.request({ ...request, bounds });
    body.on("error", () => {});
    body.destroy();
    return { status, headers };
  } catch (error) {
    throw toOAuthError(error, request.url);
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toOAuthError(error: unknown, address: string | URL): unknown {
  const { host } = new URL(address);
  if (error instanceof Error && error.name === "TimeoutError") {
    return new OAuthError("unavailable", `${host} did not answer in time`, { cause: error });
  }
  if (!(error instanceof NetError)) return error;
  const reason = error.reason === "address_refused" ? "address_refused" : "unavailable";
  return new OAuthError(reason, `${host}: ${error.message}`, { cause: error });
}

const longestText = 300;

/** The error of a token or registration endpoint, without the secrets that it may repeat. */
export function refusal({ status, json }: OAuthAnswer, what: string, secrets: readonly (string | undefined)[]): string {
  const texts = [json?.error, json?.error_description].flatMap((one) => (typeof one === "string" ? [quote(one)] : []));
  const shown = secrets
    .filter((secret) => secret !== undefined && secret.length >= 6)
    .reduce<string>((text, secret) => text.replaceAll(secret ?? "", "[hidden]"), texts.join(": "));
  const because = shown === "" ? "" : `: ${shown.slice(0, longestText)}`;
  return `${what} (status ${status})${because}`;
}
