export { type Gone, type Nodes, openNodes } from "./open-nodes.ts";
export { countAlive, forgetAllNodes, heartbeatAge, isGone, refuseAlive, selectAlive } from "./store.ts";
