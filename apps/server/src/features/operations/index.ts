export { type ClusterFigures, readClusterFigures } from "./read-cluster-figures.ts";
