import { type Accounts, everythingOf } from "../../features/accounts/index.ts";
import type { Audit } from "../../features/audit/index.ts";
import type { Billing } from "../../features/billing/index.ts";
import { type ExportPart, everyEntry } from "../../features/exports/index.ts";
import type { Storage } from "../../features/files/index.ts";
import type { Models } from "../../features/models/index.ts";
import { type Notices, noticeRecord } from "../../features/notices/index.ts";
import type { Providers } from "../../features/providers/index.ts";
import type { Secrets } from "../../features/secrets/index.ts";
import { readAccount } from "../account-api/account-routes.ts";
import { aliasToWire } from "../account-api/alias-routes.ts";
import { auditToOwner } from "../account-api/audit-routes.ts";
import { providerToWire } from "../account-api/provider-routes.ts";
import { entryToWire, keyToWire, usageToWire } from "../account-api/records.ts";
import { secretToWire } from "../account-api/secret-routes.ts";
import { sessionToWire } from "../account-api/session-routes.ts";
import { memberToWire, teamToWire } from "../account-api/team-routes.ts";
import { modelCard } from "../model-cards/card.ts";

export interface AccountPartDeps {
  accounts: Accounts;
  billing: Billing;
  audit: Pick<Audit, "export">;
  models: Models;
  notices: Pick<Notices, "list" | "readSettings">;
  providers: Providers;
  secrets: Secrets;
  storageOf(userId: string): Promise<Storage>;
}

const wholeRange = { from: undefined, to: undefined };

/** The account itself: who has access, what it costs, and what is set up for calling models. */
export function accountParts(deps: AccountPartDeps): ExportPart[] {
  const { accounts, billing, audit, models, notices, providers, secrets } = deps;
  return [
    {
      lists: {
        account: "The account: username, role, plan, balance and storage.",
        identities: "Linked persons of OpenID providers.",
        teams: "Teams that the account is a member of.",
        members: "Members, if the account is a team.",
        keys: "API keys with names and limits, without the secrets.",
        sessions: "Open sign-ins to the console.",
      },
      async *read({ caller }) {
        yield { list: "account", record: await readAccount(deps, caller) };
        for (const { issuer, subject, createdAt } of await accounts.identitiesOf(caller)) {
          yield { list: "identities", record: { issuer, subject, created_at: createdAt.toISOString() } };
        }
        const teams = everyEntry(
          (page) => accounts.listTeams(caller, page),
          ({ id }) => id,
        );
        for await (const team of teams) {
          yield { list: "teams", record: teamToWire(team, await billing.walletOf(team.id)) };
        }
        const members = everyEntry(
          (page) => accounts.membersOf(caller, page),
          ({ userId }) => userId,
        );
        for await (const member of members) yield { list: "members", record: memberToWire(member) };
        const keys = everyEntry(
          (page) => accounts.listKeys(caller, page),
          ({ id }) => id,
        );
        for await (const key of keys) yield { list: "keys", record: keyToWire(key) };
        const sessions = everyEntry(
          (page) => accounts.listSessions(caller, page),
          ({ id }) => id,
        );
        for await (const session of sessions) {
          yield { list: "sessions", record: sessionToWire(caller.keyPublic)(session) };
        }
      },
    },
    {
      lists: {
        models: "Models of the account with their manifests.",
        aliases: "Names for models and agents.",
        providers: "Providers of models.",
        secrets: "Names of stored secrets, without the values.",
      },
      async *read({ caller, base }) {
        for await (const model of models.exportModels(caller.userId)) {
          yield { list: "models", record: modelCard(model, caller, base) };
        }
        const aliases = everyEntry(
          (page) => models.listOwnAliases(caller, page),
          ({ name }) => name,
        );
        for await (const alias of aliases) yield { list: "aliases", record: aliasToWire(alias) };
        for (const listed of await providers.listOf(providers.ownerOf(caller))) {
          yield { list: "providers", record: providerToWire(listed) };
        }
        const stored = everyEntry(
          async (page) => {
            const { rows, total } = await secrets.list(caller.userId, page);
            return { entries: rows, total };
          },
          ({ name }) => name,
        );
        for await (const secret of stored) yield { list: "secrets", record: secretToWire(secret) };
      },
    },
    {
      lists: {
        usage: "Ended predictions and bought runs with tokens and prices.",
        ledger: "All movements of the balance.",
        notices: "Notices of low balances and budgets.",
        notice_settings: "When the account is notified.",
        audit: "Actions of the account, and of others on what it owns.",
      },
      async *read({ caller }) {
        for await (const rows of await billing.exportUsage(everythingOf(caller.userId), wholeRange)) {
          for (const row of rows) yield { list: "usage", record: usageToWire(row, caller) };
        }
        const entries = everyEntry(
          (page) => billing.listLedger(caller.userId, wholeRange, page),
          ({ id }) => String(id),
        );
        for await (const entry of entries) yield { list: "ledger", record: entryToWire(entry) };
        const noticed = everyEntry(
          (page) => notices.list(caller, { onlyOpen: false, ...page }),
          ({ id }) => id,
        );
        for await (const notice of noticed) yield { list: "notices", record: noticeRecord(notice) };
        yield { list: "notice_settings", record: await notices.readSettings(caller) };
        for await (const records of audit.export({ concerning: caller.userId })) {
          for (const stored of records) yield { list: "audit", record: auditToOwner(stored, caller.userId) };
        }
      },
    },
  ];
}
