import {
  agentCard,
  agentCreatedRecord,
  agentRecord,
  changeAgentBody,
  createAgentBody,
  publishAgentBody,
  readableAgent,
  revisionDiff,
  revisionEntry,
  revisionRecord,
  toolRecord,
} from "../../agents.ts";
import { agentsQuery, diffQuery, marketplaceQuery, revisionsQuery } from "../../agents-queries.ts";
import { groupOf } from "../operation.ts";

export const agentGroup = groupOf("/v1", {
  tag: "Agents",
  description:
    "A goal, a model and tools. Changes make draft revisions; runs execute the published one. A key limited to models runs agents on its models and sees them as cards; it does not manage them.",
  operations: {
    createAgent: {
      method: "post",
      path: "/agents",
      summary: "Create an agent",
      description: "It begins as a draft: publish it to run it. `warnings` tells what looks like a mistake.",
      body: createAgentBody,
      example: {
        name: "Calculator",
        goal: "Run the program with run_javascript.",
        tools: ["run_javascript"],
        input_schema: { type: "object", required: ["code"], properties: { code: { type: "string" } } },
      },
      answer: agentCreatedRecord,
      status: 201,
      fails: [403, 409],
    },
    listAgents: {
      method: "get",
      path: "/agents",
      summary: "List your agents",
      description:
        "Newest first, each with the fields of its latest revision. For a key limited to models: the cards of those that it may run.",
      answer: readableAgent,
      list: "agents",
      query: agentsQuery,
    },
    readAgent: {
      method: "get",
      path: "/agents/{agent_id}",
      summary: "Read an agent; of another's public one, its card",
      description: "The card tells how to call it and what it costs, nothing of how it works.",
      answer: readableAgent,
    },
    changeAgent: {
      method: "patch",
      path: "/agents/{agent_id}",
      summary: "Change fields; makes a draft revision",
      description:
        "Only the fields to change, each as a whole. What runs execute changes with the next publication; `visibility` acts at once.",
      body: changeAgentBody,
      example: { goal: "Run the program with run_javascript and explain the result." },
      answer: agentRecord,
      fails: [403, 409],
    },
    deleteAgent: {
      method: "delete",
      path: "/agents/{agent_id}",
      summary: "Delete an agent; its runs stay readable",
      status: 204,
      fails: [403],
    },
    publishAgent: {
      method: "post",
      path: "/agents/{agent_id}/publish",
      summary: "Publish a revision, or the latest",
      description: "To publish an old revision is the way back to it.",
      body: publishAgentBody,
      answer: agentRecord,
      fails: [403, 409],
    },
    listRevisions: {
      method: "get",
      path: "/agents/{agent_id}/revisions",
      summary: "List revisions, newest first",
      answer: revisionEntry,
      list: "revisions",
      query: revisionsQuery,
      fails: [403],
    },
    readRevision: {
      method: "get",
      path: "/agents/{agent_id}/revisions/{revision_id}",
      summary: "Read a revision whole",
      answer: revisionRecord,
      fails: [403],
    },
    diffRevision: {
      method: "get",
      path: "/agents/{agent_id}/revisions/{revision_id}/diff",
      summary: "What a revision changed",
      answer: revisionDiff,
      query: diffQuery,
      fails: [403],
    },
    listTools: {
      method: "get",
      path: "/tools",
      summary: "List the tools that an agent can be given",
      description: "Those of tool servers are listed with each server.",
      answer: toolRecord,
      list: "tools",
    },
  },
});

export const marketplaceGroup = groupOf("/v1", {
  tag: "Marketplace",
  description: "The public agents of all users.",
  operations: {
    listMarketplaceAgents: {
      method: "get",
      path: "/marketplace/agents",
      summary: "List public agents",
      description: "Newest publication first.",
      answer: agentCard,
      list: "agents",
      query: marketplaceQuery,
    },
  },
});
