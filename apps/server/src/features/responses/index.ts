export type { EarlierItems, Reference, TakeMemory } from "./earlier-items.ts";
export { openResponses, type Responses } from "./open-responses.ts";
export { customInput, customToolsIn, itemIdsOf, outputItemsOf, visibleItems } from "./output-items.ts";
export {
  type Item,
  type NewTurn,
  nothingYet,
  responseIdOf,
  type StoredTurn,
  type Turn,
  type TurnEnd,
  turnEndOf,
} from "./response.ts";
export type { Thoughts } from "./sealed-thoughts.ts";
export { deleteOldResponses, deleteTurnsOf, deleteTurnsOfRuns } from "./store.ts";
