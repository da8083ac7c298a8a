import { type Turn, visibleItems } from "../../features/responses/index.ts";

export interface ResponseBody extends Record<string, unknown> {
  id: string;
  object: "response";
  status: string;
}

/** The response object of the protocol. */
export function responseBody(turn: Omit<Turn, "previousId">, withSealed: boolean): ResponseBody {
  const { id, createdAt, endedAt, status, output, usage, error, incompleteDetails, modelName, request } = turn;
  return {
    id,
    object: "response",
    created_at: seconds(createdAt),
    completed_at: status === "completed" && endedAt ? seconds(endedAt) : null,
    status,
    error,
    incomplete_details: incompleteDetails,
    model: modelName,
    output: visibleItems(output, withSealed),
    usage,
    ...request,
  };
}

function seconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
