import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Trigger } from "./trigger.ts";
import { type Headers, headerOf } from "./verify.rules.ts";

const longest = 255;

/** The sender's id of a delivery; undefined if it was sent without one. A configured id is required. */
export function deliveryIdOf(
  { deliveryId: configured, verification }: Pick<Trigger, "deliveryId" | "verification">,
  { headers, body }: { headers: Headers; body: unknown },
): string | undefined {
  if (configured !== null) {
    const found =
      "header" in configured
        ? headerOf(headers, configured.header)
        : textOf(configured.path.split(".").reduce(ownValue, body));
    const at = "header" in configured ? ["header", configured.header] : ["body", ...configured.path.split(".")];
    if (found === undefined || found === "") throw fault("missing", "The delivery has no id here", { loc: at });
    return checked(found);
  }
  const usual = usualId(verification?.type, headers, body) ?? headerOf(headers, "idempotency-key");
  return usual === undefined || usual === "" ? undefined : checked(usual);
}

function usualId(type: string | undefined, headers: Headers, body: unknown): string | undefined {
  if (type === "standard_webhooks") return headerOf(headers, "webhook-id");
  if (type === "github") return headerOf(headers, "x-github-delivery");
  return type === "stripe" ? textOf(ownValue(body, "id")) : undefined;
}

function ownValue(of: unknown, name: string): unknown {
  return (isRecord(of) || Array.isArray(of)) && Object.hasOwn(of, name)
    ? (of as Record<string, unknown>)[name]
    : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function checked(id: string): string {
  if (id.length <= longest && !/\p{Cc}/u.test(id) && id.isWellFormed()) return id;
  throw fault("value_error", `The id of a delivery has at most ${longest} characters and no control characters`, {
    loc: ["body"],
  });
}
