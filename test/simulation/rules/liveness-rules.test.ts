import { describe, expect, test } from '@jest/globals';
import type { CreationCall } from '../evidence/evidence.ts';
import { repeatProblems } from './liveness-rules.ts';

const SENT_AT = Date.parse('2026-01-01T00:00:00.000Z');
const ACCOUNT = 'arn:modelstudio-key';
const OTHER_ACCOUNT = 'arn:modelstudio@eu-key';

/** A call after so many seconds, whose provider wants the repetition a minute later. */
const turnedAway = (account: string, afterSeconds: number): CreationCall => ({
  ...{ requestId: 'vid_1', provider: 'modelstudio', account, maker: undefined, made: undefined },
  sentAt: SENT_AT + afterSeconds * 1000,
  ...{ end: 'answered', status: 429, retryAt: SENT_AT + (afterSeconds + 60) * 1000 },
});

describe('a repeated call', () => {
  test('is hasty when its account wants the repetition later', () => {
    const problems = repeatProblems([turnedAway(ACCOUNT, 0), turnedAway(ACCOUNT, 30)], 1);

    expect(problems).toEqual(['[hasty] vid_1 was sent 30000 ms before its provider takes it again']);
  });

  test('may come when its account wants the repetition', () => {
    expect(repeatProblems([turnedAway(ACCOUNT, 0), turnedAway(ACCOUNT, 60)], 1)).toEqual([]);
  });

  test('does not wait for another account of the same provider', () => {
    expect(repeatProblems([turnedAway(ACCOUNT, 0), turnedAway(OTHER_ACCOUNT, 1)], 1)).toEqual([]);
  });
});
