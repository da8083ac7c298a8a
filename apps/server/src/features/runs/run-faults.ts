import { type Fault, fault } from "../../kernel/errors.ts";

export function runNotFound(): Fault {
  return fault("not_found", "Run not found");
}
