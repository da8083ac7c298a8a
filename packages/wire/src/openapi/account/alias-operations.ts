import { managementPage } from "../../account-queries.ts";
import { aliasRecord, putAliasBody } from "../../aliases.ts";
import { groupOf } from "../operation.ts";

export const aliasGroup = groupOf("/api/v2", {
  tag: "Aliases",
  description:
    "Names for models and agents, accepted wherever OpenAI and Anthropic clients name a model, and as the model of an agent. Your own alias wins over one that an admin created for all users. Not for keys limited to models.",
  fails: [403],
  operations: {
    listAliases: {
      method: "get",
      path: "/aliases",
      summary: "List your aliases",
      answer: aliasRecord,
      list: "results",
      query: managementPage,
    },
    putAlias: {
      method: "put",
      path: "/aliases/{name}",
      summary: "Create or change an alias",
      description:
        "You must be able to call the model or run the agent. Agents that use the alias call the new model from their next call on.",
      body: putAliasBody,
      example: { model: "gantry/text" },
      answer: aliasRecord,
      also: [201],
    },
    deleteAlias: {
      method: "delete",
      path: "/aliases/{name}",
      summary: "Delete an alias",
      status: 204,
    },
    listSharedAliases: {
      method: "get",
      path: "/admin/aliases",
      summary: "List the aliases for all users",
      description: "Only for admins, with a key without limits.",
      answer: aliasRecord,
      list: "results",
      query: managementPage,
    },
    putSharedAlias: {
      method: "put",
      path: "/admin/aliases/{name}",
      summary: "Create or change an alias for all users",
      description:
        "Only for admins, with a key without limits. The model or agent must exist. Users who may not call it get 404.",
      body: putAliasBody,
      example: { model: "gantry/text" },
      answer: aliasRecord,
      also: [201],
    },
    deleteSharedAlias: {
      method: "delete",
      path: "/admin/aliases/{name}",
      summary: "Delete an alias for all users",
      description: "Only for admins, with a key without limits.",
      status: 204,
    },
  },
});
