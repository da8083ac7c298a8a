import { setTimeout as sleep } from "node:timers/promises";
import type { LlmAnswer, LlmRequest } from "../../apps/server/test/support/scripted-llm.ts";

export const agentPlans = ["echo", "calc", "two", "drive", "search", "sub", "fail"] as const;
export type AgentPlan = (typeof agentPlans)[number];

type Step = { name: string; args: object }[];

/** Tool calls of each plan, one list a step. The answer follows the last step. */
function stepsOf(plan: string, mark: string): Step[] {
  const compute = { name: "run_javascript", args: { code: "[...Array(1000).keys()].reduce((sum, n) => sum + n, 0)" } };
  const path = `/agents/${mark}.txt`;
  const steps: Record<string, Step[]> = {
    calc: [[compute]],
    two: [[compute, compute], [compute]],
    drive: [
      [{ name: "drive_write", args: { path, content: `Written by the run of ${mark}. `.repeat(20) } }],
      [{ name: "drive_read", args: { path } }],
    ],
    search: [[{ name: "drive_search", args: { query: "harbour bridge" } }]],
    sub: [
      [
        { name: "clerk", args: {} },
        { name: "clerk", args: {} },
      ],
    ],
  };
  return steps[plan] ?? [];
}

/** Follows the plan in the goal of the current turn. */
export async function playAgent({ messages }: LlmRequest): Promise<LlmAnswer> {
  const goals = messages.flatMap(({ content }) => [...(content ?? "").matchAll(/plan:(\w+) mark:(\S*)/g)]);
  const [, plan = "echo", mark = ""] = goals.at(-1) ?? [];
  await sleep(20 + (messages.length % 5) * 30);
  if (plan === "fail") return { status: 500 };
  const steps = stepsOf(plan, mark);
  // A step is answered by its tool results. Earlier turns of a thread come without theirs.
  let results = messages.filter(({ role }) => role === "tool").length;
  for (const step of steps) {
    if (results < step.length) return { calls: step, usage: { in: 100, out: 10 } };
    results -= step.length;
  }
  return { text: `Done ${plan} ${mark}.`, usage: { in: 100, out: 10 } };
}
