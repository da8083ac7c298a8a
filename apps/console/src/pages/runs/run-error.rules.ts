import type { RunRecord } from "@gantry/sdk";
import { readableMessage } from "../../ui/api-messages.rules.ts";

type RunError = NonNullable<RunRecord["error"]>;

interface Advice {
  title: string;
  /** What to do. */
  next: string;
  /** The page that helps. */
  help?: "agent" | "money";
}

const again = "Run it again. If it fails again, give an admin the id of this run.";

/** The first row that fits the type and the message. */
const rows: readonly (readonly [type: RunError["type"], message: RegExp, advice: Advice])[] = [
  [
    "internal",
    /output schema/i,
    {
      title: "The answer did not fit the output schema",
      next: "Relax the agent's output schema, or choose a model that follows schemas.",
      help: "agent",
    },
  ],
  [
    "internal",
    /refused to answer/i,
    { title: "The model refused to answer", next: "Rephrase the input or the goal, or choose another model." },
  ],
  [
    "internal",
    /can no longer|does not have access/i,
    { title: "The agent's model is not available", next: "Choose another model for the agent.", help: "agent" },
  ],
  [
    "internal",
    /^The model failed/i,
    {
      title: "The model call failed",
      next: "Run it again in a moment. If the model stays down, choose another one for the agent.",
      help: "agent",
    },
  ],
  ["internal", /(?:)/, { title: "Gantry could not finish this run", next: again }],
  [
    "tool_error",
    /(?:)/,
    {
      title: "A tool kept failing",
      next: "Select the failed step to see its arguments and result. Then fix the tool or the agent's instructions.",
      help: "agent",
    },
  ],
  [
    "timeout",
    /(?:)/,
    { title: "The run took too long", next: "Run it again with a longer run time, or give the agent a smaller task." },
  ],
  [
    "limit_exceeded",
    /(?:)/,
    { title: "The run reached a limit", next: "Run it again with higher limits, or give the agent a smaller task." },
  ],
  [
    "insufficient_funds",
    /creator/i,
    { title: "The agent's creator is out of credit", next: "Run it again later, or tell the creator." },
  ],
  [
    "insufficient_funds",
    /(?:)/,
    {
      title: "Your balance is too low to continue",
      next: "Ask an admin for credit, then run it again.",
      help: "money",
    },
  ],
  ["invalid_input", /(?:)/, { title: "The input does not fit this agent", next: "Change the input and run it again." }],
];

/** Undefined: cancelled, which needs no advice. `cause` is left out if it says no more than the title. */
export function adviceOn({ type, message }: RunError): (Advice & { cause?: string }) | undefined {
  if (type === "cancelled") return undefined;
  const text = message.trim();
  // Servers may know more types than this console.
  const advice = rows.find(([of, fits]) => of === type && fits.test(text))?.[2] ?? {
    title: "The run failed",
    next: again,
  };
  const cause = sentence(readableMessage(text.replace(/^The model failed: /, "")));
  const isRepeated = /^(internal( error)?|error|the run failed|the model refused to answer)?\.?$/i.test(text);
  return isRepeated ? advice : { ...advice, cause };
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(upper) ? upper : `${upper}.`;
}
