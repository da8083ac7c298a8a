import { validateHeaderName, validateHeaderValue } from "node:http";
import { isLongerThan, isWebAddress } from "@gantry/wire";
import { longestAddress } from "../../../engines/net/net.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { addressOf } from "../../webhooks/index.ts";
import { parseJson } from "./convert-text.rules.ts";
import type { Report } from "./form.ts";

export interface UserPart {
  id: number;
  high_priority: boolean;
  [more: string]: unknown;
}

export interface WebhookPart {
  url: string;
  headers: Record<string, string>;
  query_params: Record<string, string>;
}

const longestUrl = 2083;

const isEmpty = (text: string) => text === "" || text === "null";

export function checkUser(text: string, report: Report): UserPart | undefined {
  if (isEmpty(text)) return undefined;
  const user = parseJson(text);
  if (!isRecord(user)) {
    report({ type: "json_invalid", msg: "Input should be a JSON object" });
    return undefined;
  }
  const { id, high_priority: priority = null } = user;
  if (id === undefined) report({ type: "missing", msg: "Field required", path: ["id"] });
  else if (!Number.isSafeInteger(id))
    report({ type: "int_parsing", msg: "Input should be a whole number", path: ["id"] });
  if (priority !== null && typeof priority !== "boolean") {
    report({ type: "bool_parsing", msg: "Input should be true, false or null", path: ["high_priority"] });
  }
  return { ...user, id: Number(id), high_priority: priority === true };
}

/** An empty `url` means no webhook. */
export function checkWebhook(text: string, report: Report): WebhookPart | undefined {
  if (isEmpty(text)) return undefined;
  const webhook = parseJson(text);
  if (!isRecord(webhook)) {
    report({ type: "json_invalid", msg: "Input should be a JSON object with url, headers and query_params" });
    return undefined;
  }
  const { url, headers, query_params: query } = webhook;
  if (url === undefined || url === null) {
    report({ type: "missing", msg: "Field required", path: ["url"] });
    return undefined;
  }
  if (url === "") return undefined;
  if (typeof url === "string" && isLongerThan(url, longestUrl)) {
    const msg = `Input should have at most ${longestUrl} characters`;
    report({ type: "string_too_long", msg, ctx: { max_length: longestUrl }, path: ["url"] });
    return undefined;
  }
  if (typeof url !== "string" || !isWebAddress(url)) {
    const msg = "Input should be an http or https address without a user name or password";
    report({ type: "url_parsing", msg, path: ["url"] });
    return undefined;
  }
  const part = {
    url,
    headers: textMap(headers, "headers", report, isHeader),
    query_params: textMap(query, "query_params", report, () => true),
  };
  checkSendable(part, report);
  return part;
}

/** A longer address could never be sent. */
function checkSendable(webhook: WebhookPart, report: Report): void {
  if (addressOf(webhook).href.length <= longestAddress) return;
  const path = [new URL(webhook.url).href.length > longestAddress ? "url" : "query_params"];
  const msg = `The encoded address with its parameters should have at most ${longestAddress} characters`;
  report({ type: "string_too_long", msg, ctx: { max_length: longestAddress }, path });
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function textMap(
  given: unknown,
  at: string,
  report: Report,
  isValid: (name: string, value: string) => boolean,
): Record<string, string> {
  const map: Record<string, string> = {};
  if (given === undefined || given === null) return map;
  if (!isRecord(given)) {
    report({ type: "json_invalid", msg: "Input should be a JSON object of names and texts", path: [at] });
    return map;
  }
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      report({ type: "string_type", msg: "Input should be text", path: [at, name] });
    } else if (!isValid(name, String(value))) {
      report({ type: "value_error", msg: "Input cannot be sent as an HTTP header", path: [at, name] });
    } else {
      Object.defineProperty(map, name, { value: String(value), enumerable: true });
    }
  }
  return map;
}
