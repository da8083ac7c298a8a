import { createClient, GantryError } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { Failure, wrongArguments } from "../frame/failure.ts";
import { money } from "../frame/format.rules.ts";
import { ownAddress } from "../frame/own-address.rules.ts";
import { profilesFile, readProfiles, setting, writeProfiles } from "../frame/profiles.ts";
import { ask, askSecretly, isTerminal, readKeyFromStdin } from "../frame/terminal.ts";

export async function login({ text, flag, out, signal }: Context): Promise<number> {
  const stored = readProfiles();
  const name = nameOf(text("profile") ?? setting("GANTRY_PROFILE") ?? "default");
  const asks = isTerminal() && !flag("key-stdin");
  if (!asks && !flag("key-stdin")) {
    throw wrongArguments("Pipe the key in with --key-stdin, or run gantry login in a terminal.");
  }
  const usual = text("url") ?? setting("GANTRY_URL") ?? stored.profiles[name]?.url ?? ownAddress(process.env);
  const url = (asks && text("url") === undefined ? await ask("Address of the server", usual) : usual).replace(
    /\/+$/,
    "",
  );
  const client = clientOf(url);
  if (isUnprotected(url)) out.note(`${url} is not encrypted: others on the network can read your key. Use https://.`);
  const key = asks ? await askSecretly("API key") : await readKeyFromStdin();
  if (key === "") throw wrongArguments("The key is empty. Create one in the console, under API keys.");
  const me = await client(key).me({ signal }).catch(refused);
  writeProfiles({ current: name, profiles: { ...stored.profiles, [name]: { url, key } } });
  if (flag("json")) {
    out.json({ url, username: me.username, profile: name, file: profilesFile() });
    return 0;
  }
  const profile = name === "default" ? "" : ` Profile: ${name}.`;
  out.line(`Logged in to ${url} as ${me.username}.${profile}`);
  out.note(`The key is stored in ${profilesFile()}.`);
  return 0;
}

export async function logout({ text, flag, out }: Context): Promise<number> {
  const { current, profiles } = readProfiles();
  const name = nameOf(text("profile") ?? setting("GANTRY_PROFILE") ?? current);
  if (!flag("all") && !Object.hasOwn(profiles, name)) {
    if (flag("json")) out.json({ logged_out: [] });
    else out.note("You are not logged in.");
    return 0;
  }
  const left = flag("all") ? [] : Object.entries(profiles).filter(([one]) => one !== name);
  writeProfiles({
    current: left.some(([one]) => one === current) ? current : (left[0]?.[0] ?? "default"),
    profiles: Object.fromEntries(left),
  });
  if (flag("json")) {
    out.json({ logged_out: flag("all") ? Object.keys(profiles) : [name] });
    return 0;
  }
  out.line(flag("all") ? "Logged out of all servers." : `Logged out of ${profiles[name]?.url}.`);
  out.note("The key still works. To end it, run gantry keys revoke, or delete it in the console.");
  return 0;
}

export async function whoami({ out, flag, client, target, signal }: Context): Promise<number> {
  const me = await (await client()).me({ signal });
  if (flag("json")) out.json(me);
  else {
    out.details([
      ["Server", (await target()).url],
      ["User", me.username],
      ["Role", me.role],
      ["Plan", me.plan],
      ["Balance", money(me.balance)],
    ]);
  }
  return 0;
}

function nameOf(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw wrongArguments(
    "A profile's name has at most 64 letters, digits, dots, - and _, and begins with a letter or digit.",
  );
}

/** Checks the address before the key is asked for. */
function clientOf(url: string) {
  try {
    createClient({ url });
  } catch (error) {
    throw wrongArguments((error as Error).message);
  }
  return (key: string) => createClient({ url, key });
}

function refused(error: unknown): never {
  if (error instanceof GantryError && error.status === 401) {
    throw new Failure("The server does not accept this key. Create one in the console, under API keys.");
  }
  throw error;
}

function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
