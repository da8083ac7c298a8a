import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { GantryClient } from "@gantry/sdk";
import type { Completes } from "../frame/command.ts";
import { readProfiles } from "../frame/profiles.ts";
import { describeField, takesFiles } from "../predictions/input.rules.ts";
import type { Candidate } from "./candidates.rules.ts";

export interface Asked {
  /** The part of the word that belongs to the value. */
  typed: string;
  /** Arguments before it. */
  words: readonly string[];
  client(): Promise<GantryClient>;
  signal: AbortSignal;
}

type Source = (asked: Asked) => Promise<readonly Candidate[]>;

const most = 100;

/** Where values come from. A list that cannot be read is empty. */
export const sources: Readonly<Record<Completes, Source>> = {
  plain: async () => [],
  commands: async () => [],
  files: async ({ typed }) => pathsAt(typed),
  profiles: async () => Object.entries(readProfiles().profiles).map(([value, { url }]) => ({ value, meaning: url })),
  async fields({ typed, words: [model = ""], client, signal }) {
    const { input } = await (await client()).models.card(model, { signal });
    const [, name = "", mark, path = ""] = /^([\w-]+)=(@?)(.*)$/s.exec(typed) ?? [];
    const field = Object.hasOwn(input.properties, name) ? input.properties[name] : undefined;
    if (mark === "@") return pathsAt(path).map(({ value, meaning }) => ({ value: `${name}=@${value}`, meaning }));
    if (field !== undefined) {
      const values = field.enum ?? (field.type === "boolean" ? [true, false] : []);
      return takesFiles(field)
        ? [{ value: `${name}=@`, meaning: "A file." }]
        : values.map((value) => ({ value: `${name}=${value}`, meaning: "" }));
    }
    return Object.entries(input.properties).map(([value, rule]) => ({
      value: `${value}=${takesFiles(rule) ? "@" : ""}`,
      meaning: rule.title ?? describeField(rule),
    }));
  },
  async models({ typed, client, signal }) {
    const { results } = await (await client()).models.list({ page_size: most, q: queryOf(typed), signal });
    return results.map(({ endpoint_id, title }) => ({ value: endpoint_id, meaning: title }));
  },
  async providers({ client, signal }) {
    const { results } = await (await client()).providers.list({ page_size: most, signal });
    return results.map(({ name, type }) => ({ value: name, meaning: type }));
  },
  async predictions({ client, signal }) {
    const { results } = await (await client()).predictions.list({ page_size: 30, signal });
    return results.map(({ id, model_name, status }) => ({ value: id, meaning: `${model_name}, ${status}` }));
  },
  async batches({ client, signal }) {
    const { data } = await (await client()).batches.list({ limit: 30, signal });
    return data.map(({ id, status }) => ({ value: id, meaning: status }));
  },
  async keys({ client, signal }) {
    const { results } = await (await client()).account.keys.list({ page_size: most, signal });
    return results.map(({ id, name }) => ({ value: id, meaning: name }));
  },
  async agents({ client, signal }) {
    const { agents } = await (await client()).agents.list({ limit: most, signal });
    return agents.map(({ slug, name }) => ({ value: slug, meaning: name }));
  },
  async runs({ client, signal }) {
    const { runs } = await (await client()).runs.list({ limit: 30, signal });
    return runs.map(({ id, status }) => ({ value: id, meaning: status }));
  },
  async threads({ client, signal }) {
    const { threads } = await (await client()).threads.list({ limit: most, signal });
    return threads.map(({ id }) => ({ value: id, meaning: "" }));
  },
  async drives({ client, signal }) {
    const { drives } = await (await client()).drives.list({ limit: most, signal });
    return drives.map(({ name, description }) => ({ value: name, meaning: description ?? "" }));
  },
  async schedules({ client, signal }) {
    const { schedules } = await (await client()).schedules.list({ limit: most, signal });
    return schedules.map(({ id, name }) => ({ value: id, meaning: name ?? "" }));
  },
  async triggers({ client, signal }) {
    const { triggers } = await (await client()).triggers.list({ limit: most, signal });
    return triggers.map(({ id, name }) => ({ value: id, meaning: name ?? "" }));
  },
};

/** Searches on the server from the second letter of the name on; a slash separates the owner. */
function queryOf(typed: string): string | undefined {
  const name = typed.split("/")[1] ?? "";
  return name.length > 1 ? name : undefined;
}

/** Files and folders that begin with a path; folders end with a slash. */
function pathsAt(typed: string): Candidate[] {
  const folder = typed.endsWith("/") ? typed : typed.includes("/") ? `${dirname(typed)}/`.replace(/^\/\/$/, "/") : "";
  const there = folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : folder || ".";
  const begun = typed.slice(folder.length);
  try {
    return readdirSync(there, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(begun) && (begun.startsWith(".") || !name.startsWith(".")))
      .slice(0, most * 10)
      .map((entry) => ({ value: `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`, meaning: "" }));
  } catch {
    return [];
  }
}
