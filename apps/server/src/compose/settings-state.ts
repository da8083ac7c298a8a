import { type Config, settings } from "../config/config.ts";
import type { KeyProof } from "../engines/vault/key-proof.ts";
import type { SettingsState } from "../features/audit/index.ts";

type Name = keyof Config;

/** Differ between the nodes of one installation. */
const ofOneNode: readonly Name[] = ["PORT", "HOST", "GANTRY_HOME", "GANTRY_ROLE", "GANTRY_PROCESSES"];

/** Text that is never a secret. Addresses are not here: they may contain a password. */
const shownTexts: readonly Name[] = ["GANTRY_LOG_LEVEL", "OTEL_SERVICE_NAME", "S3_BUCKET", "S3_REGION"];

/** The settings of this start, without secret values. */
export function settingsState(config: Config, proofOf: KeyProof): SettingsState {
  const values: Record<string, string | number | boolean | null> = {};
  const proofs: Record<string, string | null> = {};
  for (const name of (Object.keys(settings) as Name[]).filter((one) => !ofOneNode.includes(one))) {
    const value: unknown = config[name];
    if (typeof value === "number" || typeof value === "boolean") values[name] = value;
    else if (shownTexts.includes(name)) values[name] = typeof value === "string" ? value : null;
    else proofs[name] = value === undefined ? null : proofOf(`setting:${name}:${textOf(value)}`);
  }
  return { keyProof: proofOf("settings"), values, proofs };
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value, (_name, one: unknown) => (one instanceof Uint8Array ? [...one] : one));
  return text ?? String(value);
}
