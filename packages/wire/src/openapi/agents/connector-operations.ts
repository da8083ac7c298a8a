import {
  idpActionRecord,
  idpConnectorRecord,
  idpOutcomeRecord,
  putIdpConnectorBody,
  runIdpActionBody,
} from "../../idp.ts";
import type { Operation, OperationGroup } from "../operation.ts";

const operations: Operation[] = [
  {
    id: "putIdpConnector",
    method: "put",
    path: "/connectors/idp",
    summary: "Set up the identity connector",
    description: "The token is tried once, stored encrypted, and never shown again.",
    body: putIdpConnectorBody,
    answer: idpConnectorRecord,
    fails: [429, 502],
  },
  {
    id: "readIdpConnector",
    method: "get",
    path: "/connectors/idp",
    summary: "Read the identity connector",
    answer: idpConnectorRecord,
    fails: [404],
  },
  {
    id: "removeIdpConnector",
    method: "delete",
    path: "/connectors/idp",
    summary: "Remove the identity connector",
    status: 204,
    fails: [404],
  },
  {
    id: "listIdpActions",
    method: "get",
    path: "/connectors/idp/actions",
    summary: "List the connector's actions",
    answer: idpActionRecord,
    list: "actions",
  },
  {
    id: "runIdpAction",
    method: "post",
    path: "/connectors/idp/actions/{name}",
    summary: "Run an action; a write needs confirm: true",
    description:
      "Arguments lie side by side, whether they go into the path, the query or the body. A write without `confirm` is not made: the 409 shows what would be sent.",
    body: runIdpActionBody,
    example: { arguments: { name: "harbour master" }, confirm: true },
    answer: idpOutcomeRecord,
    fails: [409, 429, 502],
  },
];

export const connectorGroup: OperationGroup = {
  tag: "Identity connector",
  description: "Named actions over a tenant of an identity provider. Not for keys limited to models.",
  operations: operations.map((operation) => ({ ...operation, fails: [403, ...(operation.fails ?? [])] })),
};
