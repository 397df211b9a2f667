import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { edgeRoutes } from '../../../console/requests/graph-routes.ts';
import {
  ACCEPTED,
  EDGES,
  EXPIRY,
  NODES,
  PASSED_THROUGH,
  PICTURE,
  WEBHOOK,
  wayOf,
} from '../../../console/requests/state-graph.ts';
import { PROJECT_ROOT } from '../docs/documents.ts';

interface State {
  Next?: string;
  Default?: string;
  Catch?: { Next: string }[];
  Choices?: { Next: string }[];
}
const { States }: { States: Record<string, State> } = JSON.parse(
  readFileSync(join(PROJECT_ROOT, 'statemachines/generation.asl.json'), 'utf8'),
);
const nextOf = ({ Next, Default, Catch = [], Choices = [] }: State): string[] =>
  [Next, Default, ...[...Catch, ...Choices].map((one) => one.Next)].filter((name) => name !== undefined);

/** Where a state of the definition leads, with the state that only leads on left out. */
const edgesOfDefinition = (): string[] =>
  Object.entries(States).flatMap(([from, state]) =>
    PASSED_THROUGH.includes(from)
      ? []
      : nextOf(state)
          .flatMap((to) => (PASSED_THROUGH.includes(to) ? nextOf(States[to] ?? {}) : [to]))
          .map((to) => `${from} > ${to}`),
  );

describe('the picture of the state machine', () => {
  test('has every state of the definition, and what is before and after', () => {
    expect(NODES.map(({ id }) => id).toSorted()).toEqual(
      [
        ACCEPTED,
        WEBHOOK,
        EXPIRY,
        ...Object.keys(States).filter((name) => !PASSED_THROUGH.includes(name)),
      ].toSorted(),
    );
  });

  test('has every way between two states of the definition, and no other', () => {
    const own = EDGES.filter(([from, to]) => States[from] && States[to]).map((edge) => edge.join(' > '));

    expect(new Set(own)).toEqual(new Set(edgesOfDefinition()));
    expect(own).toHaveLength(new Set(own).size);
  });

  test('has its boxes inside, none on another', () => {
    const { width, height, box } = PICTURE;
    for (const { x, y } of NODES) {
      expect(x).toBeGreaterThanOrEqual(box.width / 2);
      expect(x).toBeLessThanOrEqual(width - box.width / 2);
      expect(y).toBeGreaterThanOrEqual(box.height / 2);
      expect(y).toBeLessThanOrEqual(height - box.height / 2);
    }
    const overlapping = NODES.filter((a) =>
      NODES.some((b) => a !== b && Math.abs(a.x - b.x) < box.width && Math.abs(a.y - b.y) < box.height),
    );
    expect(overlapping).toEqual([]);
  });
});

describe('the lines of the picture', () => {
  const { box } = PICTURE;
  type Place = { x: number; y: number };
  const nodeOf = (id: string) => NODES.find((node) => node.id === id) as Place;
  const isWithin = ({ x, y }: Place, node: Place): boolean =>
    Math.abs(x - node.x) <= box.width / 2 && Math.abs(y - node.y) <= box.height / 2;
  const isOnEdge = (point: Place, node: Place): boolean =>
    isWithin(point, node) &&
    (Math.abs(point.x - node.x) === box.width / 2 || Math.abs(point.y - node.y) === box.height / 2);
  /** Every point of a line that is a unit from the next. */
  const pointsOf = (corners: readonly Place[]): Place[] =>
    corners.slice(1).flatMap((to, index) => {
      const from = corners[index] as Place;
      const length = Math.abs(to.x - from.x) + Math.abs(to.y - from.y);
      return Array.from({ length: length + 1 }, (_, step) => ({
        x: from.x + ((to.x - from.x) / length) * step,
        y: from.y + ((to.y - from.y) / length) * step,
      }));
    });

  test('run straight, from the edge of one box to that of the other', () => {
    expect(edgeRoutes().size).toBe(EDGES.length);
    for (const [from, to] of EDGES) {
      const corners = edgeRoutes().get(`${from},${to}`) ?? [];
      expect(isOnEdge(corners[0] as Place, nodeOf(from))).toBe(true);
      expect(isOnEdge(corners.at(-1) as Place, nodeOf(to))).toBe(true);
      corners.slice(1).forEach(({ x, y }, index) => {
        expect(x === corners[index]?.x || y === corners[index]?.y).toBe(true);
      });
    }
  });

  test('run behind no box', () => {
    const hidden = EDGES.filter((edge) => {
      const inner = pointsOf(edgeRoutes().get(String(edge)) ?? []).slice(1, -1);
      return inner.some((point) => NODES.some((node) => isWithin(point, node)));
    });

    expect(hidden).toEqual([]);
  });

  test('to different boxes run over each other nowhere', () => {
    const taken = new Map<string, string>();
    const shared: string[] = [];
    for (const edge of EDGES) {
      const corners = edgeRoutes().get(String(edge)) ?? [];
      corners.slice(1).forEach((to, index) => {
        const from = corners[index] as Place;
        for (const { x, y } of pointsOf([from, to]).slice(1, -1)) {
          const place = `${x},${y} ${from.y === to.y ? 'across' : 'down'}`;
          const other = taken.get(place);
          if (other !== undefined && other !== edge[1]) shared.push(`${place}: ${other}, ${edge[1]}`);
          taken.set(place, edge[1]);
        }
      });
    }

    expect(shared).toEqual([]);
  });
});

const at = (second: number): string => `2026-11-22T09:00:${String(second).padStart(2, '0')}.000Z`;
const execution = (states: [state: string, second: number][], stopped: number | null) => ({
  ...{ workflow: 'generation', name: 'vid_1', status: 'RUNNING', startedAt: at(1) },
  stoppedAt: stopped === null ? null : at(stopped),
  states: states.map(([state, second]) => ({ state, enteredAt: at(second) })),
});
const CREATED = { createdAt: at(0), status: 'processing' };

describe('the way of a request', () => {
  test('counts visits and time of each state, and knows the ways it took', () => {
    const states: [string, number][] = [
      ['Dispatch request', 1],
      ['Where does the request stand?', 3],
      ['Wait for busy provider', 3],
      ['Dispatch request', 8],
      ['Where does the request stand?', 9],
      ['Wait for provider', 9],
    ];

    const { visits, edges } = wayOf(
      { executions: [execution(states, null)], webhooks: [] },
      CREATED,
      new Date(at(20)),
    );

    expect(
      visits.map(({ node, count, milliseconds, isOpen }) => [node.id, count, milliseconds, isOpen]),
    ).toEqual([
      [ACCEPTED, 1, 1_000, false],
      ['Dispatch request', 2, 3_000, false],
      ['Wait for busy provider', 1, 5_000, false],
      ['Wait for provider', 1, 11_000, true],
    ]);
    expect(edges).toEqual([
      [ACCEPTED, 'Dispatch request'],
      ['Dispatch request', 'Wait for busy provider'],
      ['Wait for busy provider', 'Dispatch request'],
      ['Dispatch request', 'Wait for provider'],
    ]);
  });

  test('goes on from the end to webhook attempts and the expiry of the files', () => {
    const states: [string, number][] = [
      ['Dispatch request', 1],
      ['Where does the request stand?', 3],
      ['Store outputs', 3],
      ['Settle request', 4],
    ];
    const webhooks = [10, 15].map((second, index) => ({
      ...{ delivery: 'vid_1', number: index + 1, startedAt: at(second), status: 500, milliseconds: 250 },
    }));

    const { visits, edges } = wayOf(
      { executions: [execution(states, 5)], webhooks },
      { createdAt: at(0), status: 'expired', expiresAt: at(40) },
      new Date(at(50)),
    );

    expect(visits.at(-2)).toMatchObject({ node: { id: WEBHOOK }, count: 2, milliseconds: 500 });
    expect(visits.at(-1)).toMatchObject({ node: { id: EXPIRY }, firstAt: at(40), isOpen: false });
    expect(edges).toEqual(
      expect.arrayContaining([
        ['Store outputs', 'Settle request'],
        ['Settle request', WEBHOOK],
        ['Settle request', EXPIRY],
      ]),
    );
  });

  test('begins with the acceptance, which goes on while nothing is started', () => {
    const { visits } = wayOf({ executions: [], webhooks: [] }, CREATED, new Date(at(9)));

    expect(visits).toMatchObject([{ node: { id: ACCEPTED }, milliseconds: 9_000, isOpen: true }]);
  });
});
