import { listQuery, triggersQuery } from "../../agents-queries.ts";
import {
  changeTriggerBody,
  createTriggerBody,
  triggerDeliveryRecord,
  triggerRecord,
  triggerWithUrlRecord,
} from "../../triggers.ts";
import { groupOf } from "../operation.ts";

export const triggerGroup = groupOf("/v1", {
  tag: "Triggers",
  description:
    "A trigger is an address to which other services post. Each delivery starts one run of an agent, as you and with the key that created or last changed the trigger. Not for keys limited to models.",
  fails: [403],
  operations: {
    createTrigger: {
      method: "post",
      path: "/agents/{agent_id}/triggers",
      summary: "Create a trigger",
      description: "The answer contains the `url`. It is shown once: store it with the sender.",
      body: createTriggerBody,
      example: {
        name: "New issues",
        input: { title: "{{body.issue.title}}", labels: "{{body.issue.labels}}" },
        verification: { type: "github", secret: "the-secret-of-the-webhook" },
      },
      answer: triggerWithUrlRecord,
      status: 201,
      fails: [409],
    },
    listAgentTriggers: {
      method: "get",
      path: "/agents/{agent_id}/triggers",
      summary: "List your triggers of an agent",
      description: "Newest first.",
      answer: triggerRecord,
      list: "triggers",
      query: listQuery,
    },
    listTriggers: {
      method: "get",
      path: "/triggers",
      summary: "List your triggers",
      description: "Newest first.",
      answer: triggerRecord,
      list: "triggers",
      query: triggersQuery,
    },
    readTrigger: {
      method: "get",
      path: "/triggers/{trigger_id}",
      summary: "Read a trigger",
      answer: triggerRecord,
    },
    changeTrigger: {
      method: "patch",
      path: "/triggers/{trigger_id}",
      summary: "Change a trigger",
      description:
        "Send only the fields to change, each as a whole. Later runs use the key of this request. `enabled: true` also resumes a paused trigger.",
      body: changeTriggerBody,
      example: { enabled: false },
      answer: triggerRecord,
    },
    deleteTrigger: {
      method: "delete",
      path: "/triggers/{trigger_id}",
      summary: "Delete a trigger",
      description: "Its runs stay.",
      status: 204,
    },
    rotateTrigger: {
      method: "post",
      path: "/triggers/{trigger_id}/rotate",
      summary: "Replace the URL of a trigger",
      description: "The old URL stops working at once. Later runs use the key of this request.",
      answer: triggerWithUrlRecord,
    },
    listTriggerDeliveries: {
      method: "get",
      path: "/triggers/{trigger_id}/deliveries",
      summary: "List what a trigger received",
      description: "Newest first. Requests with a wrong URL are not listed.",
      answer: triggerDeliveryRecord,
      list: "deliveries",
      query: listQuery,
    },
  },
});
