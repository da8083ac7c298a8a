import type { AccountDeletionRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { confirmed } from "../shared/questions.ts";

export async function deleteAccount(context: Context): Promise<number> {
  const [username = ""] = context.words;
  const { account } = await context.client();
  const asked = `Delete your account ${username} with everything that you stored? Nothing can restore it.`;
  if (!(await confirmed(context, asked, `delete ${username}`))) return 1;
  return print(context, await account.delete({ username }, { signal: context.signal }));
}

export async function deleteUser(context: Context): Promise<number> {
  const [username = ""] = context.words;
  const { admin } = await context.client();
  const asked = `Delete ${username} with everything that it stored? Nothing can restore it.`;
  if (!(await confirmed(context, asked, `delete ${username}`))) return 1;
  return print(context, await admin.users.delete(username, { signal: context.signal }));
}

function print({ flag, out }: Context, deletion: AccountDeletionRecord): number {
  if (flag("json")) out.json(deletion);
  else out.line(`${deletion.username} cannot sign in any more. Its data is being deleted.`);
  return 0;
}
