import { Time } from '../parts/parts.tsx';
import { durationText } from '../parts/texts.ts';
import { edgeRoutes } from './graph-routes.ts';
import { EDGES, type Edge, NODES, PICTURE, type Way } from './state-graph.ts';

const { width, height, box } = PICTURE;
/** The line of a way between two states, around the boxes of all others. */
const pathOf = (edge: Edge): string =>
  `M${(edgeRoutes().get(String(edge)) ?? []).map(({ x, y }) => `${x},${y}`).join('L')}`;

/** The state machine with the way that a request took through it: the list is the content, the picture shows it. */
export const StateGraph = ({ way }: { way: Way }) => {
  const taken = new Set(way.edges.map(String));
  const visits = new Map(way.visits.map((visit) => [visit.node.id, visit]));
  const names = way.visits.map(({ node }) => node.label).join(', ');
  return (
    <section aria-labelledby="graph-heading">
      <h2 id="graph-heading">State machine</h2>
      <svg class="graph" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Its way: ${names}.`}>
        <Arrows />
        {EDGES.toSorted((a, b) => Number(taken.has(String(a))) - Number(taken.has(String(b)))).map((edge) => {
          const isTaken = taken.has(String(edge));
          return (
            <path
              key={String(edge)}
              class={`edge${isTaken ? ' taken' : ''}`}
              d={pathOf(edge)}
              marker-end={`url(#arrow${isTaken ? 'taken' : ''})`}
            />
          );
        })}
        {NODES.map((node) => (
          <StateBox key={node.id} node={node} visit={visits.get(node.id)} />
        ))}
      </svg>
      <ol class="way">
        {way.visits.map(({ node, count, firstAt, milliseconds, isOpen }) => (
          <li key={node.id}>
            <strong>{node.label}</strong> <Time at={firstAt} />, {durationText(milliseconds)}
            {count > 1 && `, ${count} times`}
            {isOpen && ', ongoing'}
          </li>
        ))}
      </ol>
    </section>
  );
};

/** The heads of lines, for transitions that were taken and for others. */
const Arrows = () => (
  <defs>
    {['', ' taken'].map((kind) => (
      <marker
        key={kind}
        id={`arrow${kind.trim()}`}
        class={`arrow${kind}`}
        viewBox="0 0 8 8"
        refX="8"
        refY="4"
        markerWidth="9"
        markerHeight="9"
        markerUnits="userSpaceOnUse"
        orient="auto"
      >
        <path d="M0,0 L8,4 L0,8 Z" />
      </marker>
    ))}
  </defs>
);

interface StateBoxProps {
  node: (typeof NODES)[number];
  visit: Way['visits'][number] | undefined;
}

const StateBox = ({ node, visit }: StateBoxProps) => (
  <g class={`node${visit ? ' taken' : ''}${visit?.isOpen ? ' open' : ''}`}>
    <rect
      x={node.x - box.width / 2}
      y={node.y - box.height / 2}
      width={box.width}
      height={box.height}
      rx="6"
    />
    <text x={node.x} y={visit ? node.y - 3 : node.y + 5}>
      {node.label}
    </text>
    {visit && (
      <text class="time" x={node.x} y={node.y + 14}>
        {durationText(visit.milliseconds)}
        {visit.count > 1 && ` · ${visit.count}×`}
      </text>
    )}
  </g>
);
