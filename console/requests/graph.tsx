import { Time } from '../parts/parts.tsx';
import { durationText } from '../parts/texts.ts';
import { EDGES, type Edge, type GraphNode, NODES, PICTURE, type Way } from './state-graph.ts';

const { width, height, box } = PICTURE;
const placeOf = (id: string): GraphNode => NODES.find((node) => node.id === id) as GraphNode;

/** A curve from box to box: from the side that faces the other. */
const pathOf = ([from, to]: Edge): string => {
  const [a, b] = [placeOf(from), placeOf(to)];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  // Two states that lead to each other are joined by two lines, side by side.
  const aside = EDGES.some(([x, y]) => x === to && y === from) ? (dx + dy > 0 ? 7 : -7) : 0;
  if (dx === 0) {
    const side = Math.sign(dy);
    const isNext = Math.abs(dy) < 100;
    const [y1, y2] = [a.y + (side * box.height) / 2, b.y - (side * box.height) / 2];
    if (isNext) return `M${a.x + aside},${y1} L${b.x + aside},${y2}`;
    // Past the boxes that are between them.
    const x = a.x - box.width / 2;
    return `M${x},${a.y} C${x - 40},${a.y} ${x - 40},${b.y} ${x},${b.y}`;
  }
  const side = Math.sign(dx);
  const [x1, x2] = [a.x + (side * box.width) / 2, b.x - (side * box.width) / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1},${a.y + aside} C${middle},${a.y + aside} ${middle},${b.y + aside} ${x2},${b.y + aside}`;
};

/** The state machine with the way that a request took through it: the list is the content, the picture shows it. */
export const StateGraph = ({ way }: { way: Way }) => {
  const taken = new Set(way.edges.map(String));
  const visits = new Map(way.visits.map((visit) => [visit.node.id, visit]));
  const names = way.visits.map(({ node }) => node.label).join(', ');
  return (
    <section aria-labelledby="graph-heading">
      <h2 id="graph-heading">State machine</h2>
      <svg class="graph" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Its way: ${names}.`}>
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
        {NODES.map((node) => {
          const visit = visits.get(node.id);
          return (
            <g key={node.id} class={`node${visit ? ' taken' : ''}${visit?.isOpen ? ' open' : ''}`}>
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
        })}
      </svg>
      <ol class="way">
        {way.visits.map(({ node, count, firstAt, milliseconds, isOpen }) => (
          <li key={node.id}>
            <strong>{node.label}</strong> <Time at={firstAt} />, {durationText(milliseconds)}
            {count > 1 && `, ${count} times`}
            {isOpen && ', there now'}
          </li>
        ))}
      </ol>
    </section>
  );
};
