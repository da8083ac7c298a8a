import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { linkClass } from "../../../ui/link.tsx";
import { Empty, Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { historyQuery } from "./history-query.ts";
import { HistoryRow } from "./history-row.tsx";

/** The newest predictions of the model, from the server. */
export function History({ model, onReuse }: { model: string; onReuse(predictionId: string): void }) {
  const history = useQuery(historyQuery(model));
  return (
    <Panel
      title="History"
      flush
      actions={
        <Link to="/predictions" search={{ model }} className={linkClass}>
          All predictions
        </Link>
      }
    >
      <Loaded query={history}>
        {({ results }) =>
          results.length === 0 ? (
            <Empty title="No predictions yet">Your predictions of this model appear here.</Empty>
          ) : (
            <ul aria-label="History">
              {results.map((prediction) => (
                <HistoryRow key={prediction.id} prediction={prediction} onReuse={() => onReuse(prediction.id)} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
