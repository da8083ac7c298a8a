import type { Context } from "../frame/command.ts";
import { ago } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { callText } from "./run-text.rules.ts";

export async function showInbox(context: Context): Promise<number> {
  const client = await context.client();
  return printList(
    context,
    client.confirmations.each({ status: "pending" }),
    [
      { title: "run", value: ({ root_run_id }) => root_run_id },
      { title: "confirmation", value: ({ id }) => id },
      { title: "agent", value: ({ agent }) => agent.name },
      { title: "asked", value: ({ created_at }) => ago(created_at) },
      { title: "expires", value: ({ expires_at }) => ago(expires_at) },
      { title: "call", value: ({ tool, arguments: given }) => callText(tool, given) },
    ],
    "Nothing waits for your approval.",
  );
}
