import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Square } from "lucide-react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/toast.ts";

export function CancelPrediction({ id, model }: { id: string; model: string }) {
  const queries = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => api.cancel(model, id),
    onSuccess: () => toast("Prediction cancelled"),
    onSettled: () => queries.invalidateQueries({ queryKey: ["predictions"] }),
  });
  return (
    <Button icon={<Square size={14} />} busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
      Cancel
    </Button>
  );
}
