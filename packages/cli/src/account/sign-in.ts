import type { Context } from "../frame/command.ts";

export async function signIn({ words: [username], out, flag, client, signal }: Context): Promise<number> {
  const { account, admin } = await client();
  const link = await (username === undefined
    ? account.makeSignInLink({ signal })
    : admin.users.makeSignInLink(username, { signal }));
  if (flag("json")) out.json(link);
  else out.line(link.url);
  return 0;
}
