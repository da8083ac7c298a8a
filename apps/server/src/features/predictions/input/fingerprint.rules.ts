import { createHash } from "node:crypto";
import { checkUser, checkWebhook } from "./check-extras.rules.ts";
import type { Extras } from "./check-fields.rules.ts";
import type { FormBody, FormEntry } from "./form.ts";
import { ownNameOf } from "./plan-input.rules.ts";
import type { Report } from "./problem.ts";

/** A file by the SHA-256 of its bytes. */
interface Digested {
  digest: string;
}

/**
 * The same for the same form, in whatever order its parts came and whatever its files are called. It is made of what was
 * sent alone: what the owner of the model changes, or who serves an address, turns no repeat into another request.
 */
export function fingerprintOf(body: FormBody<Digested>, extras: Extras): string {
  const entries = body.kind === "form" ? body.entries : [];
  const parts = entries.map((entry) => partOf(entry, extras)).filter((part) => part !== undefined);
  const form = [body.kind, ...parts.map(canonical).sort()].join("\n");
  return createHash("sha256").update(form).digest("hex");
}

function partOf(entry: FormEntry<Digested>, extras: Extras): object | undefined {
  if ("file" in entry) return { name: ownNameOf(entry.name), file: entry.file.digest };
  const { name, value } = entry;
  if (name === "user" && extras.user) return extraOf(name, value, checkUser);
  if (name === "webhook" && extras.webhook) return extraOf(name, value, checkWebhook);
  return { name: ownNameOf(name), text: value };
}

/** Counts for what it says; one that says nothing is as if it were not there, and a wrong one stands as it is. */
function extraOf(name: string, text: string, check: (text: string, report: Report) => unknown): object | undefined {
  let isWrong = false;
  const said = check(text, () => {
    isWrong = true;
  });
  if (isWrong) return { name, text };
  return said === undefined ? undefined : { name, said };
}

/** JSON with the keys of every object in one order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
}
