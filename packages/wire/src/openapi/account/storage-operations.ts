import { deliveryListQuery, filesQuery, managementPage } from "../../account-queries.ts";
import { fileRecord } from "../../files.ts";
import { putSecretBody, secretRecord } from "../../secrets.ts";
import { deliveryDetailsRecord, deliveryRecord, sendTestEventBody, webhookSecretsRecord } from "../../webhooks.ts";
import { groupOf } from "../operation.ts";

export const fileGroup = groupOf("/api/v2", {
  tag: "Files",
  description: "Your stored uploads and outputs. A key limited to models sees only its own.",
  operations: {
    listFiles: {
      method: "get",
      path: "/files",
      summary: "List your files",
      description:
        "Newest first. With `q`, at most the newest 50,000 files of the range are searched, unless it is an id. If there are more, `searched_from` is the time of the oldest that was searched: use it as the next `to_date`.",
      answer: fileRecord,
      list: "results",
      query: filesQuery,
    },
    deleteFile: {
      method: "delete",
      path: "/files/{id}",
      summary: "Delete a file",
      description: "Outputs of a running prediction cannot be deleted.",
      status: 204,
      fails: [409],
    },
  },
});

export const secretGroup = groupOf("/api/v2", {
  tag: "Secrets",
  description:
    "Credentials for the backends of your models, stored encrypted and never shown. Not for keys with limits, or for a secret replaced by a rotation.",
  operations: {
    listSecrets: {
      method: "get",
      path: "/secrets",
      summary: "List the names of your secrets",
      answer: secretRecord,
      list: "results",
      query: managementPage,
      fails: [403],
    },
    putSecret: {
      method: "put",
      path: "/secrets/{name}",
      summary: "Create or replace a secret",
      description: "Refer to it in a manifest as `backend.secret`.",
      body: putSecretBody,
      example: { value: "sk-ant-your-key" },
      answer: secretRecord,
      also: [201],
      fails: [403],
    },
    deleteSecret: {
      method: "delete",
      path: "/secrets/{name}",
      summary: "Delete a secret",
      status: 204,
      fails: [403],
    },
  },
});

export const webhookGroup = groupOf("/api/v2", {
  tag: "Webhooks",
  description:
    "Webhook deliveries of your predictions, runs and notices, and the secrets that sign them. A key limited to models lists and resends only deliveries of what it started.",
  operations: {
    listDeliveries: {
      method: "get",
      path: "/webhooks/deliveries",
      summary: "List your deliveries",
      description: "Newest first.",
      answer: deliveryRecord,
      list: "results",
      query: deliveryListQuery,
    },
    readDelivery: {
      method: "get",
      path: "/webhooks/deliveries/{id}",
      summary: "Read a delivery with its payload and attempts",
      answer: deliveryDetailsRecord,
    },
    sendTestEvent: {
      method: "post",
      path: "/webhooks/test",
      summary: "Send a test event",
      description:
        "Sends a signed delivery of a made-up prediction to your receiver, once. Its result appears in `readDelivery`. Not for keys limited to models.",
      body: sendTestEventBody,
      example: { url: "https://example.com/hook" },
      answer: deliveryRecord,
      status: 201,
      fails: [403, 429],
    },
    resendDelivery: {
      method: "post",
      path: "/webhooks/deliveries/{id}/resend",
      summary: "Resend a delivery",
      description: "In any state, with the same `webhook-id` and a new retry schedule.",
      answer: deliveryRecord,
    },
    readWebhookSecrets: {
      method: "get",
      path: "/webhooks/secret",
      summary: "Read the signing secrets",
      description:
        "Anyone who has these secrets can sign in your place. Not for keys limited to models, or for a secret replaced by a rotation.",
      answer: webhookSecretsRecord,
      fails: [403, 409],
    },
    rotateWebhookSecret: {
      method: "post",
      path: "/webhooks/secret/rotate",
      summary: "Create a new signing secret",
      description: "The old secret also signs for another day.",
      answer: webhookSecretsRecord,
      fails: [403, 409],
    },
  },
});
