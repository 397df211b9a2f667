import { countText, durationText } from '../parts/texts.ts';
import type { AnyRecord } from '../state/record-rules.ts';

/** The median time in milliseconds from creation to success of the given records. Undefined when no record succeeded. */
export const usualMilliseconds = (records: readonly AnyRecord[]): number | undefined => {
  const taken = records
    .flatMap((record) =>
      record.status === 'succeeded' || record.status === 'expired'
        ? [Date.parse(record.finishedAt) - Date.parse(record.createdAt)]
        : [],
    )
    .sort((one, other) => one - other);
  return taken[Math.floor(taken.length / 2)];
};

/** What is known about the wait of an unfinished request. */
export interface Wait {
  record: AnyRecord;
  now: Date;
  /** Requests of this account for the same model that were created earlier, and are queued; undefined until they are read. */
  earlier: { count: number; isAll: boolean } | undefined;
  /** How long such requests took lately. */
  usual: number | undefined;
}

/** A duration in whole seconds, from 1, so that a text that ticks is calm. */
const wholeSeconds = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${Math.max(1, Math.floor(milliseconds / 1_000))} s` : durationText(milliseconds);

const leftText = (elapsed: number, usual: number): string => {
  const lately = `Such requests took about ${wholeSeconds(usual)} lately`;
  return elapsed > usual
    ? `${lately}: this one takes longer.`
    : `${lately}: some ${wholeSeconds(usual - elapsed)} are left.`;
};

/** The sentences about the wait of an unfinished request, for its caller. */
export const waitTexts = ({ record, now, earlier, usual }: Wait): string[] => {
  const elapsed = Math.max(0, now.getTime() - Date.parse(record.createdAt));
  const isQueued = record.status === 'queued';
  const since = wholeSeconds(elapsed);
  const count = earlier && `${earlier.isAll ? '' : 'More than '}${countText(earlier.count, 'request')}`;
  return [
    isQueued ? `It has waited for its turn for ${since}.` : `It has been under way for ${since}.`,
    ...(isQueued && earlier && earlier.count > 0
      ? [`${count} of yours for this model ${earlier.count === 1 ? 'is' : 'are'} before it.`]
      : []),
    ...(usual === undefined ? [] : [leftText(elapsed, usual)]),
    'A request that was accepted cannot be cancelled. You may leave this page.',
  ];
};
