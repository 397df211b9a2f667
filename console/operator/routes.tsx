import { Problem } from '../parts/parts.tsx';
import { Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { listRoutes, type RouteListing } from './operator.ts';
import { useReading } from './use-operator.ts';

const routeKey = ({ model, provider, upstreamModel }: RouteListing): string =>
  `${model} ${provider} ${upstreamModel}`;
const numberText = (value: number | null): string => (value === null ? '–' : value.toLocaleString('en'));

const COLUMNS: readonly Column<RouteListing>[] = [
  { head: 'Model', isName: true, cell: ({ model }) => model },
  { head: 'Provider', cell: ({ provider }) => provider },
  { head: 'Upstream model', isLong: true, cell: ({ upstreamModel }) => upstreamModel },
  { head: 'State', cell: ({ state }) => state },
  {
    head: 'Failed (5 min)',
    cell: ({ failedIn5Minutes, endedIn5Minutes }) => `${failedIn5Minutes} of ${endedIn5Minutes}`,
  },
  { head: 'Running', isNumber: true, cell: ({ running }) => numberText(running) },
  { head: 'At most', isNumber: true, cell: ({ maxRunning }) => numberText(maxRunning) },
  { head: 'Waiting', isNumber: true, cell: ({ waiting }) => numberText(waiting) },
  {
    head: 'Oldest (s)',
    isNumber: true,
    cell: ({ oldestWaitingSeconds }) => numberText(oldestWaitingSeconds),
  },
  { head: 'Last error', isLong: true, cell: ({ lastError }) => lastError?.text ?? '–' },
];

/** The upstreams behind the models, and how full they are. */
export const Routes = () => {
  const { value, problem } = useReading(listRoutes, []);
  return (
    <section class="panel" aria-labelledby="routes-heading">
      <h2 id="routes-heading">Routes</h2>
      <Problem text={problem.value} />
      {value.value ? (
        <Table name="Routes" columns={COLUMNS} rows={value.value} keyOf={routeKey} />
      ) : (
        problem.value === undefined && <Skeleton />
      )}
    </section>
  );
};
