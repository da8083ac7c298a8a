import { useQuery } from "@tanstack/react-query";
import { type ControlProps, Select } from "../../ui/field.tsx";
import { limitsText } from "./plan-limits.rules.ts";
import { allPlans } from "./plans-query.ts";

interface PlanSelectProps {
  control: ControlProps;
  value: string;
  onPlan(plan: string): void;
}

export function PlanSelect({ control, value, onPlan }: PlanSelectProps) {
  const plans = useQuery(allPlans);
  return (
    <Select {...control} value={value} onChange={(event) => onPlan(event.target.value)}>
      {plans.data?.map((plan) => (
        <option key={plan.name} value={plan.name}>
          {plan.name}: {limitsText(plan)}
        </option>
      )) ?? <option>{value}</option>}
    </Select>
  );
}
