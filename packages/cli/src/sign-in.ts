import { parseArgs } from "node:util";
import { createClient } from "@gantry/sdk";
import { orPrintError, target } from "./server-tools.ts";

const notAsked = 2;

export function signIn(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { url: { type: "string" }, key: { type: "string" } },
    });
    const [username, ...more] = positionals;
    if (more.length > 0) throw new Error("Usage: gantry sign-in [USERNAME] [--url URL] [--key KEY]");
    const { account, admin } = createClient(await target(values));
    return orPrintError(async () => {
      const link = await (username === undefined ? account.makeSignInLink() : admin.users.makeSignInLink(username));
      console.log(link.url);
      return 0;
    });
  }, notAsked);
}
