import { GantryError } from "@gantry/sdk";
import { errorText } from "./error-text.rules.ts";

export interface Advice {
  text: string;
  /** A page of the console that helps. */
  link?: { to: "/identity" | "/files" | "/money" | "/secrets"; label: string };
}

type Advise = (error: GantryError) => Advice | undefined;

const say =
  (text: string, link?: Advice["link"]): Advise =>
  () => ({ text, ...(link && { link }) });

const later = say("Try again in a moment.");
const report: Advise = ({ requestId }) => ({
  text: requestId
    ? "This is a fault of the server. Report the request id to its operator."
    : "This is a fault of the server. Report it to its operator.",
});
const backend = say("Try again. If it keeps failing, test the provider of the model or choose another model.");
const identity = { to: "/identity", label: "Open Identity tenant" } as const;

/** What to do about an error, by its type. Types whose messages already say it are not listed. */
const advice: Readonly<Record<string, Advise>> = {
  unauthorized: say("Sign in again, or use another key."),
  not_found: ({ message }) =>
    /identity connector/.test(message)
      ? { text: "Connect one first.", link: identity }
      : { text: "It may have been deleted, or it belongs to another user." },
  forbidden: ({ message }) =>
    message === "API key does not have access to the project"
      ? { text: "Its owner keeps it private, or your key is limited to other models." }
      : undefined,
  insufficient_funds: ({ message }) =>
    message === "Insufficient funds" ? { text: "Ask an admin for credit, or choose a cheaper model." } : undefined,
  precondition_failed: say("Someone else changed it meanwhile. Reload the page, then make your change again."),
  rate_limit: ({ retryAfter }) => ({
    text: retryAfter ? `Try again in ${Math.ceil(retryAfter)} s.` : "Wait a minute, then try again.",
  }),
  concurrent_requests_limit: say("Wait until one of your predictions ends, or queue this one."),
  storage_quota_exceeded: say("Delete files that you no longer need, or ask an admin for more storage.", {
    to: "/files",
    label: "Open Files",
  }),
  storage_full: say("Ask the operator of this server to free space."),
  content_policy_violation: say("Change the prompt or the input, then run it again."),
  no_media_generated: say("Change the input, then run it again."),
  generation_timeout: say("Ask for less, such as a shorter text, or raise the timeout in the model's manifest."),
  downstream_service_error: backend,
  downstream_service_unavailable: backend,
  upstream_error: say("Check that the service is running, then try again."),
  service_unavailable: later,
  unavailable: later,
  request_timeout: say("The connection is slow. Try again with a smaller file."),
  internal_server_error: report,
  internal: report,
  conflict: ({ message }) =>
    /PUT \/v1\/connectors\/idp/.test(message) ? { text: "Connect the tenant again.", link: identity } : undefined,
};

export function adviceFor(error: unknown): Advice | undefined {
  if (!(error instanceof GantryError) || error.type === undefined) return undefined;
  return advice[error.type]?.(error);
}

/** The error and the next step in one line, for toasts. */
export function errorWithAdvice(error: unknown): string {
  const [text, advice] = [errorText(error), adviceFor(error)?.text];
  return advice === undefined ? text : `${text.replace(/\.?$/, ".")} ${advice}`;
}
