import { expect, test } from "vitest";
import { EndedCounts, sumExpositions } from "./sum-expositions.ts";

const exposition = (figures: { requests: number; held: number; nodes: number; up: number; memory: number }) => `\
# HELP gantry_http_requests_total Requests.
# TYPE gantry_http_requests_total counter
gantry_http_requests_total{route="/a b",status="2xx"} ${figures.requests}
# HELP gantry_batch_seconds Time.
# TYPE gantry_batch_seconds histogram
gantry_batch_seconds_bucket{le="0.1"} ${figures.requests}
gantry_batch_seconds_bucket{le="+Inf"} ${figures.requests}
gantry_batch_seconds_sum 0.5
gantry_batch_seconds_count ${figures.requests}
# HELP gantry_processes Processes.
# TYPE gantry_processes gauge
gantry_processes{state="serving"} 1
gantry_processes{state="missing"} 0
# HELP gantry_predictions_held Held.
# TYPE gantry_predictions_held gauge
gantry_predictions_held ${figures.held}
# HELP gantry_nodes_alive Nodes.
# TYPE gantry_nodes_alive gauge
gantry_nodes_alive ${figures.nodes}
# HELP gantry_database_up Up.
# TYPE gantry_database_up gauge
gantry_database_up ${figures.up}
# HELP process_resident_memory_bytes Memory.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes ${figures.memory}
# HELP nodejs_gc_duration_seconds GC.
# TYPE nodejs_gc_duration_seconds histogram
nodejs_gc_duration_seconds_count{kind="minor"} 3
`;
const one = { process: "1", text: exposition({ requests: 2, held: 3, nodes: 2, up: 1, memory: 100 }) };
const two = { process: "2", text: exposition({ requests: 5, held: 4, nodes: 3, up: 0, memory: 200 }) };
const valuesOf = (text: string) =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );

test("counts are summed, gauges as their kind needs, and processes told apart", () => {
  const text = sumExpositions([one, two], new EndedCounts(), 3);
  expect(text.match(/# TYPE gantry_batch_seconds histogram/g)).toHaveLength(1);
  expect(valuesOf(text)).toEqual({
    'gantry_http_requests_total{route="/a b",status="2xx"}': 7,
    'gantry_batch_seconds_bucket{le="0.1"}': 7,
    'gantry_batch_seconds_bucket{le="+Inf"}': 7,
    gantry_batch_seconds_sum: 1,
    gantry_batch_seconds_count: 7,
    'gantry_processes{state="serving"}': 2,
    'gantry_processes{state="missing"}': 1,
    gantry_predictions_held: 7,
    gantry_nodes_alive: 3,
    gantry_database_up: 0,
    'process_resident_memory_bytes{process="1"}': 100,
    'process_resident_memory_bytes{process="2"}': 200,
    'nodejs_gc_duration_seconds_count{kind="minor",process="1"}': 3,
    'nodejs_gc_duration_seconds_count{kind="minor",process="2"}': 3,
  });
});

test("a sum never falls when a process hangs or ends", () => {
  const ended = new EndedCounts();
  const hanging = valuesOf(sumExpositions([one, { ...two, isOld: true }], ended, 2));
  expect(hanging).toMatchObject({ gantry_batch_seconds_count: 7, gantry_predictions_held: 3 });
  expect(hanging).toMatchObject({ 'gantry_processes{state="missing"}': 1 });
  expect(hanging).not.toHaveProperty('process_resident_memory_bytes{process="2"}');
  ended.add(two.text);
  const fresh = { process: "2", text: exposition({ requests: 1, held: 0, nodes: 2, up: 1, memory: 50 }) };
  expect(valuesOf(sumExpositions([one, fresh], ended, 2))).toMatchObject({
    gantry_batch_seconds_count: 8,
    gantry_predictions_held: 3,
    'gantry_processes{state="serving"}': 2,
    'process_resident_memory_bytes{process="2"}': 50,
  });
});
