import { parseArgs } from "node:util";
import { createClient } from "@gantry/sdk";
import { listeningUrl, setting } from "./environment.ts";
import { orSayWhy } from "./server-tools.ts";

const notAsked = 2;

export function signIn(args: readonly string[]): Promise<number> {
  return orSayWhy(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { url: { type: "string" }, key: { type: "string" } },
    });
    const [username, ...more] = positionals;
    if (more.length > 0) throw new Error("Name one user, or none: gantry sign-in [USERNAME]");
    const url = values.url ?? setting("GANTRY_URL") ?? (await listeningUrl());
    const { account, admin } = createClient({ url, key: values.key ?? setting("GANTRY_KEY") });
    return orSayWhy(async () => {
      const link = await (username === undefined ? account.makeSignInLink() : admin.users.makeSignInLink(username));
      console.log(link.url);
      return 0;
    });
  }, notAsked);
}
