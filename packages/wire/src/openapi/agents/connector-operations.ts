import {
  idpActionRecord,
  idpConnectorRecord,
  idpOutcomeRecord,
  putIdpConnectorBody,
  runIdpActionBody,
} from "../../idp.ts";
import { groupOf } from "../operation.ts";

export const connectorGroup = groupOf("/v1", {
  tag: "Identity connector",
  description: "Actions on a tenant of an identity provider. Not for keys limited to models.",
  fails: [403],
  operations: {
    putIdpConnector: {
      method: "put",
      path: "/connectors/idp",
      summary: "Set up the identity connector",
      description: "The token is tested, stored encrypted and never shown again.",
      body: putIdpConnectorBody,
      answer: idpConnectorRecord,
      fails: [429, 502],
    },
    readIdpConnector: {
      method: "get",
      path: "/connectors/idp",
      summary: "Read the identity connector",
      answer: idpConnectorRecord,
      fails: [404],
    },
    removeIdpConnector: {
      method: "delete",
      path: "/connectors/idp",
      summary: "Remove the identity connector",
      status: 204,
      fails: [404],
    },
    listIdpActions: {
      method: "get",
      path: "/connectors/idp/actions",
      summary: "List the connector's actions",
      answer: idpActionRecord,
      list: "actions",
    },
    runIdpAction: {
      method: "post",
      path: "/connectors/idp/actions/{name}",
      summary: "Run an action",
      description:
        "Arguments are flat, whether they go into the path, the query or the body. A write needs `confirm: true`; without it a 409 shows what would be sent.",
      body: runIdpActionBody,
      example: { arguments: { name: "harbour master" }, confirm: true },
      answer: idpOutcomeRecord,
      fails: [409, 429, 502],
    },
  },
});
