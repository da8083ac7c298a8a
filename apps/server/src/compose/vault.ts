import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/database.ts";
import { createAesVault, loadSecretKey } from "../engines/vault/aes-vault.ts";
import { settleKeyChange } from "../engines/vault/change-key.ts";
import { type KeyProof, keyProofs } from "../engines/vault/key-proof.ts";
import { opensNothing } from "../engines/vault/reseal.ts";
import type { Vault } from "../engines/vault/vault.ts";
import type { Log } from "../kernel/log.ts";
import { settleRestores } from "./restored-keys.ts";

export async function openVault(
  config: Config,
  database: Database,
  log: Log,
): Promise<{ vault: Vault; proofOf: KeyProof }> {
  const { GANTRY_HOME: home, GANTRY_SECRET_KEY: given } = config;
  await settleRestores({ database, home });
  await settleKeyChange({ database, home, given });
  const key = await loadSecretKey(home, given);
  const vault = createAesVault(key);
  if (await database.transaction((tx) => opensNothing(tx, vault))) {
    log.warn("The secret key cannot decrypt any stored credential: they were encrypted with a different key");
  }
  return { vault, proofOf: keyProofs(key) };
}
