import { datedListQuery, expensesQuery, managementPage } from "../../account-queries.ts";
import { createKeyBody, keyRecord, meRecord, rotateKeyBody } from "../../accounts.ts";
import { expensesRecord, ledgerEntryRecord, usageRecord } from "../../money.ts";
import { makeSignInLinkBody, signInLinkRecord } from "../../sign-in.ts";
import { groupOf } from "../operation.ts";

export const accountGroup = groupOf("/api/v2", {
  tag: "Account",
  description:
    "Who the key belongs to, what came in and what was spent. A key limited to models sees the balance, and the usage and expenses of what it started.",
  operations: {
    readMe: {
      method: "get",
      path: "/me",
      summary: "Who you are and what you have",
      answer: meRecord,
    },
    listUsage: {
      method: "get",
      path: "/usage",
      summary: "List your predictions that have ended, with their prices",
      description:
        "Newest first, in pages. With `Accept: text/csv` a table with the same columns: of the page that is asked for, else of all.",
      answer: usageRecord,
      otherwise: { media: "text/csv", description: "A line of names, then a line a prediction (RFC 4180)." },
      list: "results",
      query: datedListQuery,
    },
    readExpenses: {
      method: "get",
      path: "/{username}/expenses",
      summary: "What a user spent, by model",
      description:
        "Your own; those of others for admins. What cost nothing, such as what failed, is not counted: `listUsage` has it. Of the last seven days unless the range says otherwise. The same is at `/{username}/expenses/`, without `/api/v2`.",
      answer: expensesRecord,
      query: expensesQuery,
      fails: [403],
      invalid: 400,
    },
    listLedger: {
      method: "get",
      path: "/ledger",
      summary: "List every movement of your wallet",
      description:
        "Newest first: what was added, taken away, paid and earned. They add up to your balance. Not for keys limited to models.",
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
    "API keys of your own. A key limited to models sees and manages only itself, a key with a monthly limit manages only itself, a key that expires manages keys that expire no later. A secret that a rotation has replaced manages nothing during its grace.",
  operations: {
    listKeys: {
      method: "get",
      path: "/keys",
      summary: "List your keys",
      description: "Newest first, without the keys themselves.",
      answer: keyRecord,
      list: "results",
      query: managementPage,
      fails: [403],
    },
    createKey: {
      method: "post",
      path: "/keys",
      summary: "Make a key",
      description: "The answer has it in `key`, this once.",
      body: createKeyBody,
      example: { name: "website", models: ["gantry/image"], monthly_limit: 2 },
      answer: keyRecord,
      status: 201,
      fails: [403],
    },
    revokeKey: {
      method: "delete",
      path: "/keys/{id}",
      summary: "End a key at once",
      status: 204,
      fails: [403],
    },
    rotateKey: {
      method: "post",
      path: "/keys/{id}/rotate",
      summary: "Replace a key by a new one under the same id",
      description:
        "The answer has it in `key`, this once. During `grace_seconds` the old secret goes on with its work: predictions, runs, files and reading. It manages nothing any more.",
      body: rotateKeyBody,
      example: { grace_seconds: 3600 },
      answer: keyRecord,
      fails: [403, 409],
    },
    makeSignInLink: {
      method: "post",
      path: "/sign-in-links",
      summary: "Make a link that signs in to the console, once and within a quarter of an hour",
      description:
        "For you, or for admins for another user. It is worth a key without limits: a key that has one makes none.",
      body: makeSignInLinkBody,
      example: {},
      answer: signInLinkRecord,
      status: 201,
      fails: [403, 404],
    },
  },
});
