import { describe, expect, test } from '@jest/globals';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { nameInput } from '../../../../core/ending/name-input.ts';
import { type Failure, INPUT_REASONS, type InputFault } from '../../../../core/errors.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { renderRecord } from '../../../../core/requests/render-record.ts';
import { providerAttemptKey } from '../../../../core/table/keys.ts';
import { anAttempt, anImageRequest, aVideoRequest, REQUEST_ID } from '../../builders/entities.ts';
import '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { clock, given, request } from './an-ending.ts';

const UNNAMED: Failure = { code: 'provider_error', message: 'not yet named' };
const at = (path: string) => `https://files.example.com/${path}`;
const FILM = aVideoRequest({
  image: at('first.png'),
  lastFrame: at('last.png'),
  referenceVideos: [at('a.mp4'), at('b.mp4')],
  referenceAudios: [at('a.mp3')],
});
const PICTURE = anImageRequest({ references: [at('1'), at('10?sig=x'), at('1/2')] });
const named = (input: InputFault, of: typeof FILM | typeof PICTURE = FILM, said?: string) =>
  nameInput({ ...UNNAMED, input }, of, [
    anAttempt({
      outcome: {
        ...{ kind: 'failed', failure: { ...UNNAMED, input } },
        upstream: { code: 'Bad', message: said },
      },
    }),
  ]);

describe('the failure of a request whose input a provider refused', () => {
  test.each<[InputFault, string, string]>([
    [{ reason: 'unfetched', file: 2 }, 'referenceVideos[0]', 'could not be fetched by the provider'],
    [
      { reason: 'unfetched', file: 0, status: 403 },
      'image',
      'could not be fetched by the provider: its server answered 403',
    ],
    [{ reason: 'slow', file: 1 }, 'lastFrame', 'could not be fetched by the provider in time'],
    [{ reason: 'unreadable', field: 'image' }, 'image', 'could not be read by the provider'],
    [{ reason: 'small', file: 0 }, 'image', 'is smaller than the model takes'],
    [{ reason: 'large', file: 0 }, 'image', 'is larger than the model takes'],
    [
      { reason: 'format', medium: 'audio' },
      'referenceAudios[0]',
      'has a format that the model does not take',
    ],
    [{ reason: 'duration', file: 3 }, 'referenceVideos[1]', 'has a duration that the model does not take'],
    [{ reason: 'ratio', file: 0 }, 'image', 'has an aspect ratio that the model does not take'],
    [{ reason: 'rate', file: 3 }, 'referenceVideos[1]', 'has a frame rate that the model does not take'],
    [{ reason: 'value', field: 'prompt' }, 'prompt', 'was not accepted by the provider'],
  ])('names the input and the reason: %j', (input, field, problem) => {
    expect(named(input)).toEqual({
      ...{ code: 'provider_error', message: `${field} ${problem}.` },
      input: { reason: input.reason, ...(input.status && { status: input.status }), field },
    });
  });

  test.each<[string, ProviderAttempt['outcome']]>([
    ['is being made', undefined],
    ['has an open task', { kind: 'accepted', taskId: 'task-1' }],
    ['delivered nothing', { kind: 'done', outputs: [{ failure: UNNAMED }] }],
    ['was too busy', { kind: 'busy', reason: 'full' }],
    ['was lost', { kind: 'lost', failure: UNNAMED }],
    ['cannot be read', { kind: 'unreadable' }],
    [
      'failed for another reason',
      { kind: 'failed', failure: UNNAMED, upstream: { code: 'Bad', message: `no ${at('1/2')}` } },
    ],
  ])('is named by what was said of it, beside a call that %s', (_, outcome) => {
    const failure: Failure = { ...UNNAMED, input: { reason: 'unfetched' } };
    const upstream = { code: 'Bad', message: `no ${at('10')}` };
    const attempts = [
      anAttempt({ outcome }),
      anAttempt({ call: 1, outcome: { kind: 'failed', failure, upstream } }),
    ];
    expect(nameInput(failure, PICTURE, attempts).input).toEqual({
      reason: 'unfetched',
      field: 'references[1]',
    });
  });

  test('has a sentence for every reason', () => {
    for (const reason of INPUT_REASONS) {
      expect(named({ reason }).message).toMatch(/^(An input of the request|The content filter) [^:]+\.$/);
    }
  });

  test.each<[string, InputFault, typeof FILM | typeof PICTURE, string | undefined, string]>([
    ['one of several files', { reason: 'small' }, PICTURE, undefined, 'An input of the request'],
    ['one of a list', { reason: 'small', medium: 'image' }, PICTURE, undefined, 'One of references'],
    ['one of two lists', { reason: 'small', medium: 'image' }, FILM, undefined, 'An image of the request'],
    ['a file that is not there', { reason: 'small', file: 9 }, FILM, undefined, 'An input of the request'],
    ['a file by its URL', { reason: 'unfetched' }, PICTURE, `no ${at('10')}`, 'references[1]'],
    ['the longest URL', { reason: 'unfetched' }, PICTURE, `no ${at('1/2')}`, 'references[2]'],
    ['the only file', { reason: 'small' }, anImageRequest({ references: [at('1')] }), 'x', 'references[0]'],
    ['no file', { reason: 'value' }, anImageRequest({ references: [at('1')] }), 'x', 'An input'],
  ])('names what is known of it: %s', (_, input, of, said, name) => {
    expect(named(input, of, said).message).toMatch(name);
    expect(named(input, of, said).message.startsWith(name)).toBe(true);
  });

  test.each<[InputFault, string]>([
    [{ reason: 'content', field: 'prompt' }, 'the prompt'],
    [{ reason: 'content', file: 3 }, 'referenceVideos[1]'],
    [{ reason: 'content', medium: 'video' }, 'one of referenceVideos'],
    [{ reason: 'content', medium: 'image' }, 'an image of the request'],
  ])('says what the content filter refused: %j', (input, refused) => {
    const message = `The content filter of the provider refused ${refused}.`;

    expect(nameInput({ code: 'content_policy', message: '', input }, FILM, [])).toMatchObject({ message });
  });

  test('says that the prompt was refused where there is nothing else', () => {
    const failure: Failure = { code: 'content_policy', message: '', input: { reason: 'content' } };

    expect(nameInput(failure, anImageRequest(), []).message).toMatch(/refused the prompt\.$/);
  });

  test('never has the words of the provider', () => {
    for (const reason of INPUT_REASONS) {
      expect(JSON.stringify(named({ reason, file: 0 }, FILM, 'their words'))).not.toMatch(/their words/);
    }
  });

  test('is any other failure as it was', () => {
    expect(nameInput(UNNAMED, FILM, [])).toBe(UNNAMED);
  });

  test('is stored with the field, and shown with code and message', async () => {
    const failure = { ...UNNAMED, input: { reason: 'unfetched', file: 1, status: 404 } } as const;
    given({ references: [at('1'), at('2')] });
    const outcome = { kind: 'failed', failure, blamesInput: true } as const;
    memory.put(providerAttemptKey(REQUEST_ID, 0, 0), anAttempt({ outcome }));
    await endRequest(REQUEST_ID, failedBeforeStoring(failure), { clock });
    const stored = anImageRequest(request());

    expect(stored.error?.input).toEqual({ reason: 'unfetched', status: 404, field: 'references[1]' });
    const context = { now: clock.now(), publicBaseUrl: 'https://api.example.com', signUrl: () => '' };
    expect(renderRecord(stored, context)).toMatchObject({
      error: {
        code: 'provider_error',
        message: 'references[1] could not be fetched by the provider: its server answered 404.',
      },
    });
    expect(JSON.stringify(renderRecord(stored, context))).not.toContain('"input"');
  });
});
