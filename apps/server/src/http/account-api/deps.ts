import type { OverviewRecord } from "@gantry/wire";
import type { Accounts } from "../../features/accounts/index.ts";
import type { Billing } from "../../features/billing/index.ts";
import type { Storage } from "../../features/files/index.ts";
import type { Notices } from "../../features/notices/index.ts";
import type { Series } from "../../features/series/index.ts";
import type { Clock } from "../../kernel/clock.ts";

export interface AccountApiDeps {
  accounts: Accounts;
  billing: Billing;
  series: Series;
  notices: Pick<Notices, "lowBalances">;
  /** Storage that a user has used and may use, in uploads, drives and responses. */
  storageOf(userId: string): Promise<Storage>;
  /** How long data is kept, for the operator's page. */
  keeps: OverviewRecord["keeps"];
  clock: Clock;
  /** Of the program. */
  version: string;
}
