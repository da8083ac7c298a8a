import { backendsOf } from "@gantry/wire";
import type { Model } from "../../features/models/index.ts";

/** Whether one of the model's backends is of this type. */
export function hasBackend({ manifest }: Model, type: string): boolean {
  return backendsOf(manifest).some((backend) => backend.type === type);
}

/** The type of backends that read the further fields of a request, if the model has one. Others do not get them. */
export function readerOfExtras(model: Model): string {
  return hasBackend(model, "openai-chat") ? "openai-chat" : backendsOf(model.manifest)[0].type;
}
