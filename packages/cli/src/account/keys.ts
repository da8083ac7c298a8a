import type { KeyRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { ago, money } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { momentOf } from "../frame/moment.rules.ts";
import type { Output } from "../frame/output.ts";
import { limitsOf, none } from "../shared/limits.ts";
import { confirmed } from "../shared/questions.ts";

export async function listKeys(context: Context): Promise<number> {
  const { account } = await context.client();
  return printList<KeyRecord>(
    context,
    account.keys.each({ signal: context.signal }),
    [
      { title: "id", value: ({ id }) => id },
      { title: "name", value: ({ name }) => name },
      { title: "key", value: (key) => `${key.public}…` },
      { title: "created", value: ({ created_at }) => ago(created_at) },
      { title: "last used", value: ({ last_used_at }) => ago(last_used_at) },
      { title: "expires", value: ({ expires_at }) => ago(expires_at) },
      {
        title: "this month",
        value: ({ spent, monthly_limit: limit }) => (limit === null ? "" : `${money(spent ?? 0)} of ${money(limit)}`),
      },
      {
        title: "today",
        value: ({ spent_today: spent, daily_limit: limit }) =>
          limit === null ? "" : `${money(spent ?? 0)} of ${money(limit)}`,
      },
      { title: "tokens/min", value: ({ tokens_per_minute: limit }) => limit?.toLocaleString("en-US") },
      { title: "models", value: ({ models }) => models?.join(", ") },
    ],
    "You have no keys.",
  );
}

export async function createKey(context: Context): Promise<number> {
  const {
    words: [name],
    text,
    texts,
    flag,
    out,
    client,
    signal,
  } = context;
  const expires = text("expires");
  const body = {
    ...(name !== undefined && { name }),
    ...(expires !== undefined && { expires_at: momentOf("expires", expires, "ahead").toISOString() }),
    ...limitsOf(context),
    ...(texts("model").length > 0 && { models: [...texts("model")] }),
    ...(flag("forget-inputs") && { keep_inputs: false }),
  };
  return printNewKey(out, await (await client()).account.keys.create(body, { signal }), flag("json"));
}

export async function changeKey(context: Context): Promise<number> {
  const {
    words: [id = ""],
    text,
    flag,
    out,
    client,
    signal,
  } = context;
  const [name, expires] = [text("name"), text("expires")];
  const change = {
    ...(name !== undefined && { name }),
    ...(expires !== undefined && {
      expires_at: expires === none ? null : momentOf("expires", expires, "ahead").toISOString(),
    }),
    ...limitsOf(context),
  };
  const key = await (await client()).account.keys.update(id, change, { signal });
  if (flag("json")) out.json(key);
  else out.line(`Changed ${id}.`);
  return 0;
}

export async function revokeKey(context: Context): Promise<number> {
  const {
    words: [id = ""],
    flag,
    out,
    client,
    signal,
  } = context;
  const { account } = await client();
  const asked = `Revoke ${id}? Programs that use the key stop working.`;
  if (!(await confirmed(context, asked, `revoke ${id}`))) return 1;
  await account.keys.revoke(id, { signal });
  if (flag("json")) out.json({ id, revoked: true });
  else out.line(`Revoked ${id}.`);
  return 0;
}

export async function rotateKey({ words: [id = ""], flag, number, out, client, signal }: Context): Promise<number> {
  const { account } = await client();
  const key = await account.keys.rotate(id, { grace_seconds: number("grace"), signal });
  return printNewKey(out, key, flag("json"));
}

/** Only the key goes to stdout, so that a script can read it. */
function printNewKey(out: Output, key: KeyRecord, isJson: boolean): number {
  if (isJson) out.json(key);
  else {
    out.note(`Save the key of ${key.id} now. Gantry shows it only once.`);
    out.line(key.key ?? "");
  }
  return 0;
}
