import { EDGES, type Edge, type GraphNode, NODES, PICTURE } from './state-graph.ts';

/** A corner of a line, in the picture's units. */
export interface Point {
  x: number;
  y: number;
}

/** A line runs on a grid of this many units. Boxes begin and end on it. */
const GRID = 10;
/** What a line costs by the cell: to go on, to turn, to cross another line, to run along one of another end. */
const COSTS = { step: 1, turn: 6, cross: 3, along: 40 } as const;
const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

const [COLUMNS, ROWS] = [PICTURE.width / GRID + 1, PICTURE.height / GRID + 1];
const cellOf = (x: number, y: number): number => y * COLUMNS + x;

/** The edges of a box in cells. */
const sidesOf = ({ x, y }: GraphNode) => ({
  left: (x - PICTURE.box.width / 2) / GRID,
  right: (x + PICTURE.box.width / 2) / GRID,
  top: (y - PICTURE.box.height / 2) / GRID,
  bottom: (y + PICTURE.box.height / 2) / GRID,
});

/** Cells on the edge of a box where a line may begin or end, each with the direction that leads away from the box. No corners. */
const portsOf = (node: GraphNode): { cell: number; direction: number }[] => {
  const { left, right, top, bottom } = sidesOf(node);
  const ports: { cell: number; direction: number }[] = [];
  for (let y = top + 1; y < bottom; y += 1) {
    ports.push({ cell: cellOf(right, y), direction: 0 }, { cell: cellOf(left, y), direction: 2 });
  }
  for (let x = left + 2; x < right - 1; x += 1) {
    ports.push({ cell: cellOf(x, bottom), direction: 1 }, { cell: cellOf(x, top), direction: 3 });
  }
  return ports;
};

/** Cells that are in a box or on its edge. */
const taken = new Set<number>();
for (const node of NODES) {
  const { left, right, top, bottom } = sidesOf(node);
  for (let y = top; y <= bottom; y += 1) for (let x = left; x <= right; x += 1) taken.add(cellOf(x, y));
}

/** The lines that run through each cell so far: which way, and to which box. */
type Lines = Map<number, { isAcross: boolean; to: string }[]>;

const nodeOf = (id: string): GraphNode => NODES.find((node) => node.id === id) as GraphNode;

/** The cheapest way of a line, as the cells it runs through with its direction in each. */
const cheapestWay = ([from, to]: Edge, lines: Lines): { cell: number; direction: number }[] => {
  const goals = new Map(portsOf(nodeOf(to)).map(({ cell, direction }) => [cell, (direction + 2) % 4]));
  const priceOf = (cell: number, direction: number): number => {
    let price: number = COSTS.step;
    for (const line of lines.get(cell) ?? []) {
      if (line.to === to) continue;
      price += line.isAcross === (direction % 2 === 0) ? COSTS.along : COSTS.cross;
    }
    return price;
  };
  // A state is a cell and the direction in which the line comes to it. Costs are whole, so that those of one cost are a list.
  const best = new Map<number, { cost: number; before: number | undefined }>();
  const byCost: number[][] = [];
  const reach = (cell: number, direction: number, cost: number, before: number | undefined): void => {
    const state = cell * 4 + direction;
    if ((best.get(state)?.cost ?? Number.POSITIVE_INFINITY) <= cost) return;
    best.set(state, { cost, before });
    byCost[cost] ??= [];
    byCost[cost].push(state);
  };
  for (const { cell, direction } of portsOf(nodeOf(from)))
    reach(cell, direction, priceOf(cell, direction), undefined);
  for (let cost = 0; cost < byCost.length; cost += 1) {
    for (const state of byCost[cost] ?? []) {
      const { cost: least, before } = best.get(state) ?? {};
      if (least !== cost) continue;
      const [cell, direction] = [Math.floor(state / 4), state % 4];
      if (goals.get(cell) === direction) return wayTo(state, best);
      for (const [next, [dx, dy]] of DIRECTIONS.entries()) {
        // It does not turn back, nor at the box that it leaves.
        if ((next + 2) % 4 === direction || (before === undefined && next !== direction)) continue;
        const [x, y] = [(cell % COLUMNS) + dx, Math.floor(cell / COLUMNS) + dy];
        if (x < 0 || y < 0 || x >= COLUMNS || y >= ROWS) continue;
        const at = cellOf(x, y);
        if (taken.has(at) && goals.get(at) !== next) continue;
        reach(at, next, cost + priceOf(at, next) + (next === direction ? 0 : COSTS.turn), state);
      }
    }
  }
  throw new Error(`No line leads from ${from} to ${to}.`);
};

const wayTo = (
  last: number,
  best: ReadonlyMap<number, { before: number | undefined }>,
): { cell: number; direction: number }[] => {
  const way: { cell: number; direction: number }[] = [];
  for (let state: number | undefined = last; state !== undefined; state = best.get(state)?.before) {
    way.unshift({ cell: Math.floor(state / 4), direction: state % 4 });
  }
  return way;
};

const pointOf = (cell: number): Point => ({
  x: (cell % COLUMNS) * GRID,
  y: Math.floor(cell / COLUMNS) * GRID,
});

/** The corners of a line, ends included. */
const cornersOf = (way: readonly { cell: number; direction: number }[]): Point[] =>
  way
    .filter(
      ({ direction }, index) =>
        index === 0 || index === way.length - 1 || way[index + 1]?.direction !== direction,
    )
    .map(({ cell }) => pointOf(cell));

let routes: ReadonlyMap<string, readonly Point[]> | undefined;

/**
 * The line of every transition between states, by the transition as text. A line runs around all boxes, from the edge
 * of the first box to the edge of the second. Lines to the same box may share a stretch.
 */
export const edgeRoutes = (): ReadonlyMap<string, readonly Point[]> => {
  if (routes) return routes;
  const lines: Lines = new Map();
  const lengthOf = ([from, to]: Edge): number =>
    Math.abs(nodeOf(from).x - nodeOf(to).x) + Math.abs(nodeOf(from).y - nodeOf(to).y);
  const found = new Map<string, readonly Point[]>();
  // The short ones first: they have the least choice.
  for (const edge of EDGES.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const way = cheapestWay(edge, lines);
    for (const { cell, direction } of way) {
      const known = lines.get(cell) ?? [];
      lines.set(cell, [...known, { isAcross: direction % 2 === 0, to: edge[1] }]);
    }
    found.set(String(edge), cornersOf(way));
  }
  routes = found;
  return found;
};
