import { type Fault, fault } from "../../kernel/errors.ts";

export function agentNotFound(): Fault {
  return fault("not_found", "Agent not found");
}

export function revisionNotFound(): Fault {
  return fault("not_found", "Revision not found");
}
