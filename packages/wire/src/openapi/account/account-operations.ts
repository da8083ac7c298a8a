import { datedListQuery, expensesQuery, managementPage } from "../../account-queries.ts";
import {
  accountDeletionRecord,
  changeKeyBody,
  createKeyBody,
  deleteAccountBody,
  keyRecord,
  meRecord,
  rotateKeyBody,
} from "../../accounts.ts";
import { auditRecord, ownAuditQuery } from "../../audit.ts";
import { exportQuery } from "../../exports.ts";
import { expensesRecord, ledgerEntryRecord, usageRecord } from "../../money.ts";
import { seriesQuery, seriesRecord } from "../../series.ts";
import { makeSignInLinkBody, signInLinkRecord } from "../../sign-in.ts";
import { groupOf } from "../operation.ts";
import { archive, exportArchive } from "./export-archive.ts";

export const accountGroup = groupOf("/api/v2", {
  tag: "Account",
  description:
    "Your account, balance, usage and expenses. A key limited to models sees the balance, and its own usage and expenses.",
  operations: {
    readMe: {
      method: "get",
      path: "/me",
      summary: "Read your account",
      answer: meRecord,
    },
    exportAccount: {
      method: "get",
      path: "/export",
      summary: "Download all data of your account",
      description: archive("Of a team: for its admins and owners. Not for keys with limits."),
      answer: exportArchive,
      query: exportQuery,
      fails: [403, 409, 429],
    },
    deleteAccount: {
      method: "delete",
      path: "/me",
      summary: "Delete your account",
      description:
        "Your keys, sessions and passwords stop working at once, and your work is cancelled. Everything that you stored is deleted in the background. The ledger and the sums of usage stay, without your name. The username cannot be used again. Not for keys with limits.",
      body: deleteAccountBody,
      example: { username: "anna" },
      answer: accountDeletionRecord,
      status: 202,
      fails: [403, 409],
    },
    listUsage: {
      method: "get",
      path: "/usage",
      summary: "List your ended predictions with their prices",
      description:
        "Newest first, in pages. With `Accept: text/csv` a table with the same columns: one page if you ask for it, otherwise everything.",
      answer: usageRecord,
      otherwise: { media: "text/csv", description: "A header line, then one line per prediction (RFC 4180)." },
      list: "results",
      query: datedListQuery,
    },
    readExpenses: {
      method: "get",
      path: "/{username}/expenses",
      summary: "Read the expenses of a user by model",
      description:
        "Your own expenses; admins can read those of any user. Free predictions, such as failed ones, are not counted: see `listUsage`. The default range is the last seven days. Also at `/{username}/expenses/`, without `/api/v2`.",
      answer: expensesRecord,
      query: expensesQuery,
      fails: [403],
      invalid: 400,
    },
    readSeries: {
      method: "get",
      path: "/series",
      summary: "Read figures over time",
      description:
        "For charts: spend, requests, errors, latency and tokens by minute, hour or day, in UTC. Sums equal those of `readExpenses` for the same range. By key, mode or status, and for a key limited to models, the range is at most 31 days. Admins can read the figures of a user or of the whole service.",
      answer: seriesRecord,
      query: seriesQuery,
      fails: [403, 404],
    },
    listOwnAudit: {
      method: "get",
      path: "/audit",
      summary: "List what concerns your account in the audit log",
      description:
        "Your actions, and those of others on what is yours, newest first. Actions of others come without their network address and key. Not for keys limited to models.",
      answer: auditRecord,
      list: "results",
      query: ownAuditQuery,
      fails: [403],
    },
    listLedger: {
      method: "get",
      path: "/ledger",
      summary: "List the entries of your wallet",
      description:
        "Credits, deductions, charges and income, newest first. They add up to your balance. Not for keys limited to models.",
      answer: ledgerEntryRecord,
      list: "results",
      query: datedListQuery,
      fails: [403],
    },
  },
});

export const keyGroup = groupOf("/api/v2", {
  tag: "Keys",
  description:
    "Your API keys. A key limited to models sees and manages only itself; a key with a limit can only rotate and revoke itself; a key that expires manages only keys that expire no later. A secret replaced by a rotation manages nothing.",
  operations: {
    listKeys: {
      method: "get",
      path: "/keys",
      summary: "List your keys",
      description: "Newest first, without the secrets.",
      answer: keyRecord,
      list: "results",
      query: managementPage,
      fails: [403],
    },
    createKey: {
      method: "post",
      path: "/keys",
      summary: "Create a key",
      description:
        "The answer shows the key once, in `key`. An account, or a member of a team, has at most 1,000 keys that are not revoked.",
      body: createKeyBody,
      example: { name: "website", models: ["gantry/image"], monthly_limit: 2 },
      answer: keyRecord,
      status: 201,
      fails: [403, 409],
    },
    changeKey: {
      method: "patch",
      path: "/keys/{id}",
      summary: "Change a key",
      description:
        "Name, expiry, models and limits. Omitted fields stay; null removes a limit. Predictions that were accepted before keep what they were accepted with. A new budget includes what the key has already spent in the period. Not for keys with limits.",
      body: changeKeyBody,
      example: { daily_limit: 5, tokens_per_minute: 100_000 },
      answer: keyRecord,
      fails: [403, 409],
    },
    revokeKey: {
      method: "delete",
      path: "/keys/{id}",
      summary: "Revoke a key",
      status: 204,
      fails: [403],
    },
    rotateKey: {
      method: "post",
      path: "/keys/{id}/rotate",
      summary: "Rotate a key",
      description:
        "The answer shows the new secret once, in `key`; the id stays. During `grace_seconds` the old secret still works for predictions, runs, files and reading, but not for management.",
      body: rotateKeyBody,
      example: { grace_seconds: 3600 },
      answer: keyRecord,
      fails: [403, 409],
    },
    makeSignInLink: {
      method: "post",
      path: "/sign-in-links",
      summary: "Create a sign-in link for the console",
      description:
        "The link works once, within 15 minutes. Admins can create links for other users. Keys with limits cannot create links.",
      body: makeSignInLinkBody,
      example: {},
      answer: signInLinkRecord,
      status: 201,
      fails: [403, 404],
    },
  },
});
