import { answered, aws, DAY, ended, HOUR, MINUTE, ours, type Story, times } from './alarm-points.ts';

const { countMetric, METRIC, measure } = await import('../../core/observability.ts');

/** Events of a small deployment, and the alarm that these events ring; `undefined` for none. */
export interface AlarmStory {
  story: Story;
  rings: string | undefined;
}

/** The same, so often an hour for so many hours, the newest first. */
const hourly = (hours: number, perHour: number, story: (secondsAgo: number) => Story): Story =>
  times(hours * perHour, (index) => story(10 + Math.floor((index * HOUR) / perHour)));
const failed = (secondsAgo: number): Story => ended(1, 1, secondsAgo);
const succeeded = (secondsAgo: number): Story => ended(0, 1, secondsAgo);
const refused = (secondsAgo: number): Story => ours(secondsAgo, () => countMetric(METRIC.requestRefused, {}));
const took = (secondsAgo: number, seconds: number): Story =>
  ours(secondsAgo, () => measure(METRIC.secondsPerOutput, { model: 'xW3.0s' }, seconds));
/** A week of videos of 4 to 7 s a second of output at the provider, then what came after. */
const afterAWeek = (story: Story): Story => [
  ...times(7 * 24, (hour) => times(3, (index) => took((2 + hour) * HOUR + 60, 4 + ((hour + index) % 4)))),
  ...story,
];

/** The signs of life that a deployment gives where nothing is wrong: the loop, its survey and the verification run. */
export const ALIVE: Story = [
  ...times(150, (minute) => ours(minute * MINUTE + 10, () => measure(METRIC.checkOverdue, {}, 0))),
  ...times(30, (span) => ours(span * 5 * MINUTE + 10, () => measure(METRIC.workOverdue, {}, 0))),
  ...times(3, (day) => ours(day * DAY + HOUR, () => countMetric(METRIC.ledgerVerified, {}))),
];

/** Stories of small deployments, by what happened. */
export const STORIES: Record<string, AlarmStory> = {
  'nothing happens': { story: [], rings: undefined },
  '4 requests an hour all fail for a day': { story: hourly(24, 4, failed), rings: 'AllRequestsFailing' },
  'a first customer makes two requests in a morning, and both fail': {
    story: [...failed(HOUR), ...failed(4 * HOUR)],
    rings: 'AllRequestsFailing',
  },
  'every API call is answered 500 at 40 an hour': {
    story: hourly(4, 40, (at) => answered(1, 1, at)),
    rings: 'MostCallsFailing',
  },
  'three calls a day are all answered 500': {
    story: [...answered(1, 1, HOUR), ...answered(1, 1, 4 * HOUR)],
    rings: 'AllCallsFailing',
  },
  'every file is answered 403': {
    story: hourly(3, 1, (at) => ours(at, () => countMetric(METRIC.fileUnreachable, {}))),
    rings: 'FileUnreachable',
  },
  '60 items an hour cannot be read after an upgrade': {
    story: hourly(2, 60, (at) => ours(at, () => countMetric(METRIC.itemUnreadable, {}))),
    rings: 'ItemUnreadable',
  },
  'one item cannot be read': {
    story: ours(10, () => countMetric(METRIC.itemUnreadable, {})),
    rings: 'ItemUnreadable',
  },
  '60 executions an hour are lost': {
    story: hourly(2, 60, (at) => ours(at, () => countMetric(METRIC.executionLost, {}))),
    rings: 'ExecutionLost',
  },
  'one execution dies': {
    story: ours(10, () => countMetric(METRIC.executionLost, {})),
    rings: 'ExecutionLost',
  },
  'executions of refused prompts fail, two an hour': {
    story: hourly(6, 2, (at) =>
      aws('AWS/States/ExecutionsFailed StateMachineArn=GenerationWorkflowMachineStateMachine', 1, at),
    ),
    rings: undefined,
  },
  'five creations of one end-user are refused for their content': {
    story: hourly(1, 5, refused),
    rings: undefined,
  },
  'a caller sends a hundred files that the provider refuses, beside a success an hour': {
    story: [...hourly(2, 50, refused), ...hourly(6, 1, succeeded)],
    rings: undefined,
  },
  'one request of four fails, all day': {
    story: hourly(24, 4, (at) => (at % 4 === 0 ? failed(at) : succeeded(at))),
    rings: undefined,
  },
  'one request fails at night, and none follows': { story: failed(3 * HOUR), rings: undefined },
  'eight of nine requests of an hour fail, one succeeds': {
    story: [...ended(8, 9, 30 * MINUTE)],
    rings: 'MostRequestsFailing',
  },
  'two calls among a hundred an hour are answered 503': {
    story: hourly(3, 1, (at) => answered(2, 100, at)),
    rings: undefined,
  },
  'the API answers 500 to creations, and 200 to as many reads': {
    story: hourly(2, 6, (at) => answered(1, 2, at)),
    rings: 'MostCallsFailing',
  },
  'callers change from videos of 5 s to videos of 15 s, at the same pace': {
    story: afterAWeek(hourly(2, 6, (at) => took(at, 5))),
    rings: undefined,
  },
  'the provider becomes ten times slower for the same output': {
    story: afterAWeek(hourly(2, 6, (at) => took(at, 60))),
    rings: 'xW3.0s-late',
  },
};
