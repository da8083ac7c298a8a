import * as accounts from "../../accounts.ts";
import { aliasRecord, putAliasBody } from "../../aliases.ts";
import { auditRecord } from "../../audit.ts";
import { errorSchemas } from "../../error-schemas.ts";
import { fileRecord } from "../../files.ts";
import * as money from "../../money.ts";
import { noticeRecord, noticeSettingsBody, noticeSettingsRecord } from "../../notices.ts";
import { predictionRecord, predictionSummary } from "../../predictions.ts";
import * as providers from "../../providers.ts";
import { putSecretBody, secretRecord } from "../../secrets.ts";
import { seriesRecord } from "../../series.ts";
import {
  changePasswordBody,
  makeSignInLinkBody,
  passwordResetRecord,
  signedInSessionRecord,
  signInLinkRecord,
} from "../../sign-in.ts";
import { takeDownBody, takeDownRecord } from "../../take-downs.ts";
import * as teams from "../../teams.ts";
import { deliveryDetailsRecord, deliveryRecord, sendTestEventBody, webhookSecretsRecord } from "../../webhooks.ts";
import { documentOf } from "../document.ts";
import type { Api } from "../operation.ts";
import { accountFailures, accountPage, ownFailures } from "./account-failures.ts";
import { accountGroup, keyGroup } from "./account-operations.ts";
import { adminGroup } from "./admin-operations.ts";
import { aliasGroup } from "./alias-operations.ts";
import { noticeGroup } from "./notice-operations.ts";
import { predictionGroup } from "./prediction-operations.ts";
import { providerGroup } from "./provider-operations.ts";
import { sessionGroup } from "./session-operations.ts";
import { fileGroup, secretGroup, webhookGroup } from "./storage-operations.ts";
import { teamGroup } from "./team-operations.ts";

export const accountApi: Api = {
  title: "Gantry account",
  description:
    "Your account, predictions, keys, teams, aliases, providers, usage, files, secrets, webhooks and notices, and administration. Amounts are in dollars. Clients must ignore unknown fields.",
  base: "/api/v2",
  stability: "stable",
  groups: [
    accountGroup,
    predictionGroup,
    keyGroup,
    teamGroup,
    sessionGroup,
    aliasGroup,
    providerGroup,
    fileGroup,
    secretGroup,
    webhookGroup,
    noticeGroup,
    adminGroup,
  ],
  requests: {
    CreateKey: accounts.createKeyBody,
    ChangeKey: accounts.changeKeyBody,
    RotateKey: accounts.rotateKeyBody,
    MakeSignInLink: makeSignInLinkBody,
    CreateTeam: teams.createTeamBody,
    AddMember: teams.addMemberBody,
    ChangeMember: teams.changeMemberBody,
    ChangePassword: changePasswordBody,
    PutAlias: putAliasBody,
    PutProvider: providers.putProviderBody,
    TestProvider: providers.testProviderBody,
    ImportModels: providers.importBody,
    PutSecret: putSecretBody,
    PutNoticeSettings: noticeSettingsBody,
    CreateUser: accounts.createUserBody,
    ChangeUser: accounts.changeUserBody,
    DeleteAccount: accounts.deleteAccountBody,
    PutPlan: accounts.putPlanBody,
    CreateCredit: money.creditBody,
    TakeDown: takeDownBody,
  },
  answers: {
    Me: accounts.meRecord,
    Key: accounts.keyRecord,
    Team: teams.teamRecord,
    Member: teams.memberRecord,
    TeamUsage: teams.teamUsageRecord,
    Alias: aliasRecord,
    Provider: providers.providerRecord,
    ProviderTest: providers.providerTestRecord,
    Discovery: providers.discoveryRecord,
    Import: providers.importRecord,
    SignInLink: signInLinkRecord,
    Session: signedInSessionRecord,
    PasswordReset: passwordResetRecord,
    User: accounts.userRecord,
    AccountDeletion: accounts.accountDeletionRecord,
    Plan: accounts.planRecord,
    Usage: money.usageRecord,
    PredictionSummary: predictionSummary,
    Prediction: predictionRecord,
    Expenses: money.expensesRecord,
    Series: seriesRecord,
    Credit: money.creditRecord,
    LedgerEntry: money.ledgerEntryRecord,
    Ledger: money.ledgerRecord,
    Overview: money.overviewRecord,
    AuditRecord: auditRecord,
    TakenDown: takeDownRecord,
    File: fileRecord,
    Secret: secretRecord,
    Notice: noticeRecord,
    NoticeSettings: noticeSettingsRecord,
    Delivery: deliveryRecord,
    DeliveryDetails: deliveryDetailsRecord,
    SendTestEvent: sendTestEventBody,
    WebhookSecrets: webhookSecretsRecord,
  },
  pathParameters: {
    id: "The id shown in the list.",
    name: "Aliases: letters, digits, `.`, `_`, `:` and `-`, at most 63. Providers: a-z, 0-9, `.`, `_` and `-`, at most 40. Secrets: letters, digits, `_`, `.` and `-`, at most 63. Plans: a-z, 0-9 and `-`, at most 39. Models: the part after the owner.",
    username: "The username.",
    team: "The name of the team.",
    owner: "The username of the model's owner.",
  },
  failures: { ...accountFailures, ...ownFailures },
  failureSchemas: errorSchemas,
  invalid: 422,
  page: accountPage,
};

export const accountDocument = documentOf(accountApi);
