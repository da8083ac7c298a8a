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
} from "../../agents.ts";
import { agentsQuery, diffQuery, marketplaceQuery, revisionsQuery } from "../../agents-queries.ts";
import { agentAuthorizationList } from "../../tool-servers.ts";
import { toolRecord } from "../../tools.ts";
import { groupOf } from "../operation.ts";

export const agentGroup = groupOf("/v1", {
  tag: "Agents",
  description:
    "An agent has a goal, a model and tools. Changes create draft revisions; runs execute the published one. A key limited to models can run agents on its models and sees their cards, but cannot manage them.",
  operations: {
    createAgent: {
      method: "post",
      path: "/agents",
      summary: "Create an agent",
      description: "A new agent is a draft: publish it to run it. `warnings` lists likely mistakes.",
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
        "Newest first, with the fields of the latest revision. A key limited to models gets the cards of agents that it may run.",
      answer: readableAgent,
      list: "agents",
      query: agentsQuery,
    },
    readAgent: {
      method: "get",
      path: "/agents/{agent_id}",
      summary: "Read an agent",
      description:
        "For another user's public agent you get its card: how to call it and what it costs, not how it works.",
      answer: readableAgent,
    },
    changeAgent: {
      method: "patch",
      path: "/agents/{agent_id}",
      summary: "Change an agent",
      description:
        "Send only the fields to change, each as a whole. Creates a draft revision, which takes effect when you publish it. `visibility` takes effect at once.",
      body: changeAgentBody,
      example: { goal: "Run the program with run_javascript and explain the result." },
      answer: agentRecord,
      fails: [403, 409],
    },
    deleteAgent: {
      method: "delete",
      path: "/agents/{agent_id}",
      summary: "Delete an agent",
      status: 204,
      fails: [403],
    },
    publishAgent: {
      method: "post",
      path: "/agents/{agent_id}/publish",
      summary: "Publish a revision",
      description: "Publish an old revision to roll back.",
      body: publishAgentBody,
      answer: agentRecord,
      fails: [403, 409],
    },
    listRevisions: {
      method: "get",
      path: "/agents/{agent_id}/revisions",
      summary: "List revisions",
      answer: revisionEntry,
      list: "revisions",
      query: revisionsQuery,
      fails: [403],
    },
    readRevision: {
      method: "get",
      path: "/agents/{agent_id}/revisions/{revision_id}",
      summary: "Read a revision",
      answer: revisionRecord,
      fails: [403],
    },
    diffRevision: {
      method: "get",
      path: "/agents/{agent_id}/revisions/{revision_id}/diff",
      summary: "Compare revisions",
      answer: revisionDiff,
      query: diffQuery,
      fails: [403],
    },
    listAgentAuthorizations: {
      method: "get",
      path: "/agents/{agent_id}/authorizations",
      summary: "List the authorizations that an agent needs from you",
      description:
        "Tool servers with OAuth that the published revision uses, for every agent that you may run. Runs use your own authorization, never the creator's.",
      answer: agentAuthorizationList,
    },
    listTools: {
      method: "get",
      path: "/tools",
      summary: "List the tools for agents",
      description: "Tools of tool servers are listed with each server.",
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
      description: "Most recently published first.",
      answer: agentCard,
      list: "agents",
      query: marketplaceQuery,
    },
  },
});
