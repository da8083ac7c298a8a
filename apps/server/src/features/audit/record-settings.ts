import type { Database, Sql } from "../../engines/database/database.ts";
import { recordByOperator } from "./record.ts";

/** The effective settings of a start. Values that may be secret are replaced by a proof that only the server's key can compute. */
export interface SettingsState {
  /** Of the key that computed the proofs. */
  keyProof: string;
  values: Readonly<Record<string, string | number | boolean | null>>;
  proofs: Readonly<Record<string, string | null>>;
}

/** Nodes of one role have the same settings. */
const nameOf = (role: string) => `audit_settings_${role}`;

/** Records what differs from the last start. Of several processes that start at once, one records it. */
export async function recordSettings({ transaction }: Database, role: string, now: SettingsState): Promise<void> {
  const name = nameOf(role);
  await transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('gantry.audit.settings'))`;
    const before = await readState(tx, name);
    const changes = before && changesOf(before, now);
    if (changes && changes.names.length === 0) return;
    await tx`
      insert into settings (name, value) values (${name}, ${tx.json(now)})
      on conflict (name) do update set value = excluded.value`;
    if (!changes) return;
    await recordByOperator(tx, {
      action: "settings.change",
      object: { id: role, name: "settings" },
      before: { values: changes.before },
      after: { values: changes.after },
    });
  });
}

interface Changes {
  names: readonly string[];
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** A setting that this version added, or the earlier one had, counts only if it is set. */
export function changesOf(before: SettingsState, now: SettingsState): Changes {
  const changes = {
    names: [] as string[],
    before: {} as Record<string, unknown>,
    after: {} as Record<string, unknown>,
  };
  const note = (name: string, from: unknown, to: unknown) => {
    changes.names.push(name);
    changes.before[name] = from;
    changes.after[name] = to;
  };
  for (const [name, value] of Object.entries(now.values)) {
    const from = before.values[name];
    if (from !== undefined && from !== value) note(name, from, value);
  }
  const isSameKey = before.keyProof === now.keyProof;
  for (const [name, proof] of Object.entries(now.proofs)) {
    const from = before.proofs[name];
    if (from === undefined) continue;
    const differs = from === null || proof === null || isSameKey ? from !== proof : false;
    if (differs) note(name, from === null ? null : "(hidden)", proof === null ? null : "(changed)");
  }
  return changes;
}

async function readState(sql: Sql, name: string): Promise<SettingsState | undefined> {
  const [row] = await sql<{ value: SettingsState }[]>`select value from settings where name = ${name}`;
  return row?.value;
}
