export { type Painting, paint } from "./paint.ts";
export { type Reference, readReference } from "./references.ts";
export { refusalOf } from "./safety.ts";
