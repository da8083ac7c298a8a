export { openTriggers, type Triggers } from "./open-triggers.ts";
export { deleteOldDeliveries } from "./store.ts";
export type { ListedTrigger, Trigger, TriggerDelivery } from "./trigger.ts";
