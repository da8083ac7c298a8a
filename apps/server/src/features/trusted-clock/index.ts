export { type TrustedClock, watchClock } from "./watch-clock.ts";
