import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

await main(buildSteps);
