import type { ChangeTriggerBody, CreateTriggerBody, TriggerRecord } from "@gantry/sdk";
import { pretty, readObject } from "../../ui/json.rules.ts";
import { linesOf } from "../schedules/schedule-form.rules.ts";

type Verification = NonNullable<TriggerRecord["verification"]>;
type Hmac = Extract<Verification, { type: "hmac" }>;

/** A trigger as it is entered. */
export interface EnteredTrigger {
  name: string;
  /** `none`: the secret in the address is enough. */
  verification: Verification["type"] | "none";
  /** Empty: an existing secret stays. */
  secret: string;
  header: string;
  algorithm: Hmac["algorithm"];
  encoding: Hmac["encoding"];
  prefix: string;
  /** Where the id of a delivery is. `usual`: as the kind of sender has it. */
  deliveryId: "usual" | "header" | "path";
  deliveryIdAt: string;
  /** `body`: the body is the input. */
  input: "body" | "template";
  template: string;
  overlap: TriggerRecord["overlap"];
  maxCost: string;
  /** Tools, one per line. */
  approve: string;
  thread: string;
}

const empty: EnteredTrigger = {
  name: "",
  verification: "none",
  secret: "",
  header: "",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
  deliveryId: "usual",
  deliveryIdAt: "",
  input: "template",
  template: "{}",
  overlap: "parallel",
  maxCost: "",
  approve: "",
  thread: "",
};

/** Begins with a placeholder for each required field of the agent. */
export function newTrigger(requiredInputs: readonly string[]): EnteredTrigger {
  if (requiredInputs.length === 0) return { ...empty, input: "body" };
  const template = Object.fromEntries(requiredInputs.map((name) => [name, `{{body.${name}}}`]));
  return { ...empty, template: pretty(template) };
}

export function enteredOf(trigger: TriggerRecord): EnteredTrigger {
  const { verification, delivery_id, input } = trigger;
  return {
    ...empty,
    name: trigger.name ?? "",
    verification: verification?.type ?? "none",
    ...(verification?.type === "hmac" && {
      header: verification.header,
      algorithm: verification.algorithm,
      encoding: verification.encoding,
      prefix: verification.prefix ?? "",
    }),
    ...(delivery_id && "header" in delivery_id && { deliveryId: "header", deliveryIdAt: delivery_id.header }),
    ...(delivery_id && "path" in delivery_id && { deliveryId: "path", deliveryIdAt: delivery_id.path }),
    input: input === null ? "body" : "template",
    template: pretty(input ?? {}),
    overlap: trigger.overlap,
    maxCost: trigger.max_cost === null ? "" : String(trigger.max_cost),
    approve: trigger.approve.join("\n"),
    thread: trigger.thread_id ?? "",
  };
}

type Body = CreateTriggerBody & ChangeTriggerBody;

/** `before`: the trigger that is changed. Its secret is not known here, so an unchanged verification is left out. */
export function triggerBody(entered: EnteredTrigger, before?: TriggerRecord): { body: Body } | { fault: string } {
  const { name, deliveryId, deliveryIdAt, overlap, maxCost, approve, thread } = entered;
  const template = entered.input === "body" ? undefined : readObject(entered.template);
  if (template && "fault" in template) return template;
  const keepsVerification = before !== undefined && entered.secret === "" && isSameVerification(entered, before);
  const at = deliveryIdAt.trim();
  return {
    body: {
      name: name.trim() || null,
      input: template ? template.value : null,
      ...(!keepsVerification && { verification: verificationOf(entered) }),
      delivery_id: deliveryId === "usual" ? null : deliveryId === "header" ? { header: at } : { path: at },
      overlap,
      max_cost: maxCost.trim() === "" ? null : Number(maxCost),
      approve: linesOf(approve),
      thread_id: thread.trim() || null,
    },
  };
}

function verificationOf(entered: EnteredTrigger): CreateTriggerBody["verification"] {
  const { verification: type, secret, header, algorithm, encoding, prefix } = entered;
  if (type === "none") return null;
  if (type !== "hmac") return { type, secret };
  return {
    type,
    secret,
    header: header.trim(),
    algorithm,
    encoding,
    ...(prefix.trim() !== "" && { prefix: prefix.trim() }),
  };
}

/** Whether the settings without the secret are those of the stored trigger. */
function isSameVerification(entered: EnteredTrigger, before: TriggerRecord): boolean {
  const { secret: _none, ...now } = verificationOf(entered) ?? { secret: "", type: "none" };
  const then = before.verification ?? { type: "none" };
  const ordered = (value: object) => JSON.stringify(Object.entries(value).sort());
  return ordered(now) === ordered(then);
}
