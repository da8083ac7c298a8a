import { deliveryListQuery, managementPage } from "../../account-queries.ts";
import { fileRecord } from "../../files.ts";
import { putSecretBody, secretRecord } from "../../secrets.ts";
import { deliveryRecord, webhookSecretsRecord } from "../../webhooks.ts";
import { groupOf } from "../operation.ts";

export const fileGroup = groupOf("/api/v2", {
  tag: "Files",
  description:
    "What you have in storage: uploads and outputs. A key limited to models has what it uploaded and what its predictions made.",
  operations: {
    listFiles: {
      method: "get",
      path: "/files",
      summary: "List your files",
      description: "Newest first.",
      answer: fileRecord,
      list: "results",
      query: managementPage,
    },
    deleteFile: {
      method: "delete",
      path: "/files/{id}",
      summary: "Delete a file",
      description: "An output of a prediction that has not ended is refused.",
      status: 204,
      fails: [409],
    },
  },
});

export const secretGroup = groupOf("/api/v2", {
  tag: "Secrets",
  description:
    "Credentials that the backends of your models need. They are stored encrypted and never read back. Not for keys that are limited to models or have a monthly limit, nor for a secret that a rotation has replaced.",
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
      summary: "Store a secret, or replace it",
      description: "A manifest names it as `backend.secret`.",
      body: putSecretBody,
      example: { value: "sk-ant-your-key" },
      answer: secretRecord,
      also: [201],
      fails: [403],
    },
    deleteSecret: {
      method: "delete",
      path: "/secrets/{name}",
      summary: "Remove a secret",
      status: 204,
      fails: [403],
    },
  },
});

export const webhookGroup = groupOf("/api/v2", {
  tag: "Webhooks",
  description:
    "What became of the webhooks of your predictions, and the secrets that sign them. A key limited to models lists and resends the deliveries of its own predictions.",
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
    resendDelivery: {
      method: "post",
      path: "/webhooks/deliveries/{id}/resend",
      summary: "Send a delivery once more",
      description: "Whatever became of it: under the same `webhook-id`, with a fresh schedule of retries.",
      answer: deliveryRecord,
    },
    readWebhookSecrets: {
      method: "get",
      path: "/webhooks/secret",
      summary: "The secrets that sign your webhooks",
      description:
        "Not for keys limited to models, nor for a secret that a rotation has replaced: whoever has them can sign in your place.",
      answer: webhookSecretsRecord,
      fails: [403, 409],
    },
    rotateWebhookSecret: {
      method: "post",
      path: "/webhooks/secret/rotate",
      summary: "Make a new signing secret",
      description: "The old one signs beside it for a day.",
      answer: webhookSecretsRecord,
      fails: [403, 409],
    },
  },
});
