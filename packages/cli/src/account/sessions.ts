import type { SignedInSessionRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { ago } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { confirmed } from "../shared/questions.ts";

export async function listSessions(context: Context): Promise<number> {
  const { account } = await context.client();
  return printList<SignedInSessionRecord>(
    context,
    everySession((page) => account.sessions.list({ page, page_size: 100, signal: context.signal })),
    [
      { title: "id", value: ({ id }) => id },
      { title: "way", value: ({ signed_in_with }) => signed_in_with },
      { title: "key", value: ({ key_name }) => key_name },
      { title: "created", value: ({ created_at }) => ago(created_at) },
      { title: "last used", value: ({ last_used_at }) => ago(last_used_at) },
      { title: "ends", value: ({ expires_at }) => ago(expires_at) },
      { title: "address", value: ({ address }) => address ?? "" },
      { title: "browser", value: ({ user_agent }) => user_agent ?? "" },
    ],
    "You have no sessions.",
  );
}

interface SessionPage {
  results: SignedInSessionRecord[];
  total_pages: number;
}

async function* everySession(read: (page: number) => Promise<SessionPage>): AsyncGenerator<SignedInSessionRecord> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { results, total_pages } = await read(page);
    yield* results;
    pages = total_pages;
  }
}

export async function revokeSessions(context: Context): Promise<number> {
  const {
    words: [id],
    flag,
    out,
    client,
    signal,
  } = context;
  const { account } = await client();
  const which = id === undefined ? "all sessions" : `session ${id}`;
  if (!(await confirmed(context, `End ${which}? API keys keep working.`, `end ${which}`))) return 1;
  await (id === undefined ? account.sessions.revokeOthers({ signal }) : account.sessions.revoke(id, { signal }));
  if (flag("json")) out.json({ id: id ?? null, revoked: true });
  else out.line(`Ended ${which}.`);
  return 0;
}

export async function resetPassword({ words: [username = ""], out, flag, client, signal }: Context): Promise<number> {
  const { admin } = await client();
  const link = await admin.users.makePasswordReset(username, { signal });
  if (flag("json")) out.json(link);
  else out.line(link.url);
  return 0;
}
