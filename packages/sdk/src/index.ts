export {
  type BooksRecord,
  type ClientOptions,
  createClient,
  type GantryClient,
  type InputField,
  type Prediction,
  type StreamEvent,
} from "./client.ts";
export { GantryError } from "./errors.ts";
