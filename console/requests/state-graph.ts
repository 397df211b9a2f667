import type { RequestReport } from '../operator/report.ts';

/** A state of a request's way, with its place in the picture. */
export interface GraphNode {
  id: string;
  label: string;
  /** Middle of its box, in the picture's units. */
  x: number;
  y: number;
}

/** Width and height of the picture, and of a box in it. */
export const PICTURE = { width: 980, height: 560, box: { width: 140, height: 40 } } as const;

const COLUMNS = [120, 370, 620, 860] as const;
const ROWS = [50, 160, 280, 400, 510] as const;
const node = (id: string, label: string, column: number, row: number): GraphNode => ({
  id,
  label,
  x: COLUMNS[column] ?? 0,
  y: ROWS[row] ?? 0,
});

/** The request's acceptance, before any execution. */
export const ACCEPTED = 'Accepted';
/** The nodes after the end of a request. */
export const WEBHOOK = 'Webhook attempts';
export const EXPIRY = 'Files expire';
/** It only leads on, so that the picture leaves it out. */
export const PASSED_THROUGH: readonly string[] = ['Where does the request stand?', 'Has the request failed?'];

/** Every state that a request can be in, by their names in `statemachines/generation.asl.json`, and what is before and after. */
export const NODES: readonly GraphNode[] = [
  node(ACCEPTED, 'Accepted', 0, 0),
  node('Dispatch request', 'Dispatch', 0, 1),
  node('Wait for capacity', 'Wait in the queue', 0, 2),
  node('Wait to queue again', 'Our own fault', 0, 3),
  node('Wait for busy provider', 'Provider is busy', 1, 0),
  node('Wait for provider', 'Wait for provider', 1, 1),
  node('Query provider', 'Query provider', 1, 2),
  node('Wait after our own fault', 'Our own fault', 1, 3),
  node('Store outputs', 'Store outputs', 2, 1),
  node('Settle request', 'Settle', 3, 1),
  node('Fail request', 'Fail and refund', 2, 3),
  node('Request ended otherwise', 'Ended otherwise', 0, 4),
  node('Request left to reconciler', 'Left to reconciler', 1, 4),
  node('Request failed and refunded', 'Failed, refunded', 2, 4),
  node(WEBHOOK, 'Webhook attempts', 3, 3),
  node(EXPIRY, 'Files expire', 3, 4),
];

/** A way from one state to the next. */
export type Edge = readonly [from: string, to: string];

/** Where a step that asks what is next may lead. */
const NEXT_STEPS = [
  'Store outputs',
  'Wait for provider',
  'Wait for capacity',
  'Wait for busy provider',
  'Request ended otherwise',
  'Fail request',
];

/** Every way between the states. */
export const EDGES: readonly Edge[] = [
  [ACCEPTED, 'Dispatch request'],
  ...['Dispatch request', 'Wait for provider', 'Query provider'].flatMap((from) =>
    NEXT_STEPS.map((to): Edge => [from, to]),
  ),
  ['Dispatch request', 'Query provider'],
  ['Wait for busy provider', 'Dispatch request'],
  ['Wait for capacity', 'Dispatch request'],
  ['Wait for capacity', 'Wait to queue again'],
  ['Wait to queue again', 'Dispatch request'],
  ['Wait for provider', 'Query provider'],
  ['Wait for provider', 'Wait after our own fault'],
  ['Query provider', 'Wait after our own fault'],
  ['Query provider', 'Request left to reconciler'],
  ['Wait after our own fault', 'Query provider'],
  ['Store outputs', 'Settle request'],
  ['Store outputs', 'Fail request'],
  ['Store outputs', 'Query provider'],
  ['Settle request', 'Fail request'],
  ['Fail request', 'Request failed and refunded'],
  ['Fail request', 'Request ended otherwise'],
  ['Settle request', WEBHOOK],
  ['Fail request', WEBHOOK],
  ['Settle request', EXPIRY],
];

/** How often a request was in a state, since when, and for how long altogether. */
interface Visit {
  node: GraphNode;
  count: number;
  firstAt: string;
  milliseconds: number;
  /** It is there now. */
  isOpen: boolean;
}

/** The way that a request took. */
export interface Way {
  /** In the order of the first visits. */
  visits: Visit[];
  edges: Edge[];
}

interface Step {
  id: string;
  from: string;
  until: string | null;
}

/** The states that a request was in, by its report, up to `now`. */
export const wayOf = (
  report: Pick<RequestReport, 'executions' | 'webhooks'>,
  record: { createdAt: string; status: string; expiresAt?: string | undefined },
  now: Date,
): Way => {
  const steps = stepsOf(report, record);
  const visits = new Map<string, Visit>();
  const edges = new Map<string, Edge>();
  for (const [index, { id, from, until }] of steps.entries()) {
    const known = NODES.find((one) => one.id === id);
    if (!known) continue;
    const milliseconds = Date.parse(until ?? now.toISOString()) - Date.parse(from);
    const before = visits.get(id);
    visits.set(id, {
      node: known,
      count: (before?.count ?? 0) + 1,
      firstAt: before?.firstAt ?? from,
      milliseconds: (before?.milliseconds ?? 0) + Math.max(0, milliseconds),
      isOpen: until === null,
    });
    const previous = steps[index - 1];
    const edge = previous && EDGES.find(([a, b]) => a === previous.id && b === id);
    if (edge) edges.set(edge.join(), edge);
  }
  // The edges to the webhook and the expiry begin at the state that ended the request.
  const last = steps.findLast(({ id }) => ['Settle request', 'Fail request'].includes(id))?.id;
  for (const id of [WEBHOOK, EXPIRY]) {
    const edge = visits.has(id) && EDGES.find(([a, b]) => a === last && b === id);
    if (edge) edges.set(edge.join(), edge);
  }
  return { visits: [...visits.values()], edges: [...edges.values()] };
};

const stepsOf = (
  { executions, webhooks }: Pick<RequestReport, 'executions' | 'webhooks'>,
  { createdAt, status, expiresAt }: { createdAt: string; status: string; expiresAt?: string | undefined },
): Step[] => {
  const generation = executions.find(({ workflow }) => workflow === 'generation');
  const states = (generation?.states ?? []).filter(({ state }) => !PASSED_THROUGH.includes(state));
  const steps: Step[] = [
    { id: ACCEPTED, from: createdAt, until: generation?.startedAt ?? null },
    ...states.map(({ state, enteredAt }, index) => ({
      id: state,
      from: enteredAt,
      until: states[index + 1]?.enteredAt ?? generation?.stoppedAt ?? null,
    })),
    ...webhooks.map(({ startedAt, milliseconds }) => ({
      id: WEBHOOK,
      from: startedAt,
      until: new Date(Date.parse(startedAt) + milliseconds).toISOString(),
    })),
  ];
  if (status === 'expired' && expiresAt !== undefined) {
    steps.push({ id: EXPIRY, from: expiresAt, until: expiresAt });
  }
  return steps;
};
