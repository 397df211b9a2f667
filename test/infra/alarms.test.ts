import { describe, expect, test } from '@jest/globals';
import { alarmParagraphs, readDocument } from '../unit/docs/documents.ts';
import { notifies, type Point, stateOf } from './alarm-evaluator.ts';
import { scenariosFor } from './alarm-scenarios.ts';
import { ALIVE, STORIES } from './alarm-stories.ts';
import {
  ofType,
  type Resource,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

const service = await synthesizeService({ canary: 'xSD4.5', exportBucket: 'exports.example' });
const MODELS = ['xSD4.5', 'xSD5Pro', 'xQI3Pro', 'xZI1.0Pro', 'xW2.7S', 'xW3.0s'];
const SCENARIOS = scenariosFor(MODELS);

/** Every alarm by its name without the marks that CloudFormation leaves out. */
const alarmsOf = ({ resources }: ServiceTemplate): Map<string, Resource['Properties']> =>
  new Map(
    ofType(resources, 'AWS::CloudWatch::Alarm').map(([id, { Properties }]) => [
      render({ Ref: id }).replace(/^(Monitoring|TableExport)/, ''),
      Properties,
    ]),
  );
const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '');
const alarms = alarmsOf(service);
const states = (name: string, stories: readonly Point[][]) => {
  const alarm = alarms.get(plain(name));
  if (!alarm) throw new Error(`There is no alarm ${name}.`);
  return stories.map((story) => {
    const state = stateOf(alarm, story);
    return { state, isRung: state !== 'OK' && notifies(alarm, state) };
  });
};

test('Every alarm of the stack is rung here, and no other', () => {
  expect(Object.keys(SCENARIOS).map(plain).toSorted()).toEqual([...alarms.keys()].toSorted());
});

describe.each(Object.entries(SCENARIOS))('the alarm %s', (name, { rings, ringing, quiet }) => {
  test(`rings when ${rings}`, () => {
    expect(ringing.length).toBeGreaterThan(0);
    for (const { isRung } of states(name, ringing)) expect(isRung).toBe(true);
  });

  test('is quiet at what comes next to that, and says so', () => {
    expect(quiet.length).toBeGreaterThan(0);
    for (const { state } of states(name, quiet)) expect(state).toBe('OK');
    expect(notifies(alarms.get(plain(name)) ?? {}, 'OK')).toBe(true);
  });
});

/** The alarms that notified somebody in the last two hours of a story, seen every five minutes. */
const rungIn = (story: readonly Point[]): string[] => {
  const moments = Array.from({ length: 24 }, (_, index) => index * 300);
  const rung = moments.flatMap((back) => {
    const known = [
      ...ALIVE,
      ...story.flatMap((point) =>
        point.secondsAgo < back ? [] : [{ ...point, secondsAgo: point.secondsAgo - back }],
      ),
    ];
    return Object.keys(SCENARIOS).filter((name) => {
      const alarm = alarms.get(plain(name)) ?? {};
      const state = stateOf(alarm, known);
      return state !== 'OK' && notifies(alarm, state);
    });
  });
  return [...new Set(rung)].filter((name) => name !== 'CanaryFailed');
};

test.each(Object.entries(STORIES))('In the story "%s" what should ring rings', (_, { story, rings }) => {
  const rung = rungIn(story);

  if (rings === undefined) expect(rung).toEqual([]);
  else expect(rung).toContain(rings);
});

test('A fault of deliver-webhook that repeats for ever rings within an hour of its first error, and goes on ringing', () => {
  const { ringing } = SCENARIOS.WebhookFaults ?? { ringing: [] };
  const [hour = []] = ringing;
  const first = Math.max(...hour.map(({ secondsAgo }) => secondsAgo));
  const at = (seconds: number): Point[] =>
    hour
      .filter(({ secondsAgo }) => first - secondsAgo <= seconds)
      .map((point) => ({ ...point, secondsAgo: point.secondsAgo - first + seconds }));
  const rung = Array.from({ length: 60 }, (_, minute) => minute * 60).filter((seconds) =>
    states('WebhookFaults', [at(seconds)]).some(({ isRung }) => isRung),
  );

  expect(rung[0]).toBeLessThanOrEqual(1860);
  expect(rung.at(-1)).toBe(59 * 60);
});

test('The guide says of each alarm what rings it, in the words of these tests', () => {
  const told = alarmParagraphs(readDocument('docs/alarms.md')).map(({ name, text }) => {
    const rings = `${SCENARIOS[name]?.rings}. `;
    return [name, text.startsWith(rings) ? rings : text];
  });

  expect(told.toSorted()).toEqual(
    Object.entries(SCENARIOS)
      .map(([name, { rings }]) => [name, `${rings}. `])
      .toSorted(),
  );
});
