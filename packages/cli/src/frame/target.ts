import type { Target } from "./command.ts";
import { wrongArguments } from "./failure.ts";
import { ownAddress } from "./own-address.rules.ts";
import { isReadByOthers, type Profile, profilesFile, readProfiles, setting } from "./profiles.ts";

export interface Wanted {
  url?: string | undefined;
  key?: string | undefined;
  profile?: string | undefined;
  team?: string | undefined;
}

/**
 * Options, then the environment, then the stored login, then the address of `serve`. A named profile comes before the
 * environment. A stored key is only sent to the server that it was stored for.
 */
export function findTarget({ url, key, profile, team }: Wanted, note: (text: string) => void): Target {
  const isNamed = profile !== undefined;
  const givenUrl = url ?? (isNamed ? undefined : setting("GANTRY_URL"));
  const givenKey = key ?? (isNamed ? undefined : setting("GANTRY_KEY"));
  const stored = givenUrl !== undefined && givenKey !== undefined ? undefined : storedProfile(profile, note);
  const found = givenUrl ?? stored?.url ?? ownAddress(process.env);
  const ownKey = givenKey ?? (stored && isSame(stored.url, found) ? stored.key : undefined);
  return { url: found, key: ownKey, team: team ?? setting("GANTRY_TEAM") };
}

function storedProfile(named: string | undefined, note: (text: string) => void): Profile | undefined {
  const { current, profiles } = readProfiles();
  const wanted = named ?? setting("GANTRY_PROFILE");
  const name = wanted ?? current;
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found === undefined && wanted !== undefined) {
    throw wrongArguments(`No stored login has the name ${wanted}. Run gantry login --profile ${wanted}.`);
  }
  if (found !== undefined && isReadByOthers()) {
    note(`Other users can read your API key in ${profilesFile()}. Run: chmod 600 ${profilesFile()}`);
  }
  return found;
}

const isSame = (one: string, other: string): boolean => one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
